# SPDX-License-Identifier: GPL-3.0-or-later
# Kept by tests/list-sources --write.

unit_programs = \
	tests/unit/test_base_buf \
	tests/unit/test_base_clock \
	tests/unit/test_base_cron \
	tests/unit/test_base_glob \
	tests/unit/test_base_histogram \
	tests/unit/test_base_io \
	tests/unit/test_base_log \
	tests/unit/test_base_map \
	tests/unit/test_base_mounts \
	tests/unit/test_base_sha256 \
	tests/unit/test_base_statedir \
	tests/unit/test_base_text \
	tests/unit/test_base_when \
	tests/unit/test_cli_act \
	tests/unit/test_cli_conf \
	tests/unit/test_cli_daemon \
	tests/unit/test_cli_explain \
	tests/unit/test_cli_follow \
	tests/unit/test_cli_json \
	tests/unit/test_cli_logs \
	tests/unit/test_cli_ls \
	tests/unit/test_cli_options \
	tests/unit/test_cli_records \
	tests/unit/test_cli_repl \
	tests/unit/test_cli_repl_storm \
	tests/unit/test_cli_session \
	tests/unit/test_cli_submit \
	tests/unit/test_cli_targets \
	tests/unit/test_cli_undo \
	tests/unit/test_cli_wait \
	tests/unit/test_cli_where \
	tests/unit/test_cli_words \
	tests/unit/test_core_act \
	tests/unit/test_core_acts \
	tests/unit/test_core_artifacts \
	tests/unit/test_core_asset \
	tests/unit/test_core_attempt \
	tests/unit/test_core_backoff \
	tests/unit/test_core_caller \
	tests/unit/test_core_cancel \
	tests/unit/test_core_class \
	tests/unit/test_core_clock \
	tests/unit/test_core_clock_ages \
	tests/unit/test_core_context \
	tests/unit/test_core_dead_letters \
	tests/unit/test_core_deadline \
	tests/unit/test_core_delay \
	tests/unit/test_core_ended_sums \
	tests/unit/test_core_ending \
	tests/unit/test_core_explain_quit \
	tests/unit/test_core_explain_room \
	tests/unit/test_core_explain_wait \
	tests/unit/test_core_explain_worker \
	tests/unit/test_core_expr \
	tests/unit/test_core_fail \
	tests/unit/test_core_files \
	tests/unit/test_core_final \
	tests/unit/test_core_final_begun \
	tests/unit/test_core_gate \
	tests/unit/test_core_gate_digest \
	tests/unit/test_core_gate_expiry \
	tests/unit/test_core_gate_form \
	tests/unit/test_core_gate_list \
	tests/unit/test_core_gate_pushback \
	tests/unit/test_core_gate_votes \
	tests/unit/test_core_graph \
	tests/unit/test_core_graph_refused \
	tests/unit/test_core_group \
	tests/unit/test_core_grow \
	tests/unit/test_core_grow_acts \
	tests/unit/test_core_grow_refused \
	tests/unit/test_core_hold \
	tests/unit/test_core_lane \
	tests/unit/test_core_life \
	tests/unit/test_core_load \
	tests/unit/test_core_load_decisions \
	tests/unit/test_core_load_refused \
	tests/unit/test_core_load_rows \
	tests/unit/test_core_lock \
	tests/unit/test_core_lock_people \
	tests/unit/test_core_lock_served \
	tests/unit/test_core_loop \
	tests/unit/test_core_loop_edges \
	tests/unit/test_core_memory \
	tests/unit/test_core_modes \
	tests/unit/test_core_noop \
	tests/unit/test_core_outbox \
	tests/unit/test_core_outputs \
	tests/unit/test_core_place \
	tests/unit/test_core_place_affinity \
	tests/unit/test_core_place_charge \
	tests/unit/test_core_place_here \
	tests/unit/test_core_place_lock \
	tests/unit/test_core_place_order \
	tests/unit/test_core_place_owner \
	tests/unit/test_core_place_prefer \
	tests/unit/test_core_place_prefetch \
	tests/unit/test_core_place_queue \
	tests/unit/test_core_place_recall \
	tests/unit/test_core_place_reserve \
	tests/unit/test_core_progress \
	tests/unit/test_core_prune \
	tests/unit/test_core_prune_left \
	tests/unit/test_core_reopen \
	tests/unit/test_core_resources \
	tests/unit/test_core_result \
	tests/unit/test_core_retry \
	tests/unit/test_core_round \
	tests/unit/test_core_round_edges \
	tests/unit/test_core_schedule \
	tests/unit/test_core_schedule_acts \
	tests/unit/test_core_schedule_edges \
	tests/unit/test_core_schedule_many \
	tests/unit/test_core_service \
	tests/unit/test_core_spec \
	tests/unit/test_core_spec_fields \
	tests/unit/test_core_submit_size \
	tests/unit/test_core_subrun \
	tests/unit/test_core_subrun_acts \
	tests/unit/test_core_subrun_edges \
	tests/unit/test_core_subrun_unknown \
	tests/unit/test_core_tenant \
	tests/unit/test_core_tenant_set \
	tests/unit/test_core_time \
	tests/unit/test_core_token \
	tests/unit/test_core_topic \
	tests/unit/test_core_unknown \
	tests/unit/test_core_values \
	tests/unit/test_core_view \
	tests/unit/test_core_view_people \
	tests/unit/test_core_watch \
	tests/unit/test_core_why \
	tests/unit/test_core_worker \
	tests/unit/test_core_worker_flap \
	tests/unit/test_core_worker_link \
	tests/unit/test_core_worker_pool \
	tests/unit/test_core_worker_refuse \
	tests/unit/test_core_worker_report \
	tests/unit/test_goods_blobs \
	tests/unit/test_goods_folder \
	tests/unit/test_goods_manifest \
	tests/unit/test_lang_conditions \
	tests/unit/test_lang_conf \
	tests/unit/test_lang_context \
	tests/unit/test_lang_dagline \
	tests/unit/test_lang_demand \
	tests/unit/test_lang_label \
	tests/unit/test_lang_matrix \
	tests/unit/test_lang_pipeline \
	tests/unit/test_lang_setting \
	tests/unit/test_lang_shell \
	tests/unit/test_lang_write \
	tests/unit/test_lang_zone \
	tests/unit/test_master_answer_page \
	tests/unit/test_master_clock \
	tests/unit/test_master_fat \
	tests/unit/test_master_goods_book \
	tests/unit/test_master_greedy \
	tests/unit/test_master_live \
	tests/unit/test_master_live_tail \
	tests/unit/test_master_logfile \
	tests/unit/test_master_logpack \
	tests/unit/test_master_logprune \
	tests/unit/test_master_logs \
	tests/unit/test_master_logstore \
	tests/unit/test_master_power \
	tests/unit/test_master_prune \
	tests/unit/test_master_rate \
	tests/unit/test_master_recent \
	tests/unit/test_master_resub \
	tests/unit/test_master_resume \
	tests/unit/test_master_rights \
	tests/unit/test_master_rough \
	tests/unit/test_master_samples \
	tests/unit/test_master_seal \
	tests/unit/test_master_sight \
	tests/unit/test_master_upload \
	tests/unit/test_master_uploads \
	tests/unit/test_master_version \
	tests/unit/test_master_views \
	tests/unit/test_master_watch \
	tests/unit/test_net_channel \
	tests/unit/test_net_client \
	tests/unit/test_net_conn \
	tests/unit/test_net_keyfile \
	tests/unit/test_net_listen \
	tests/unit/test_net_tls \
	tests/unit/test_net_transport \
	tests/unit/test_proto_codec \
	tests/unit/test_proto_error \
	tests/unit/test_proto_form \
	tests/unit/test_proto_frame \
	tests/unit/test_proto_job_output \
	tests/unit/test_proto_message \
	tests/unit/test_proto_rights \
	tests/unit/test_proto_spec \
	tests/unit/test_proto_states \
	tests/unit/test_proto_version \
	tests/unit/test_store_acts \
	tests/unit/test_store_ballast \
	tests/unit/test_store_fault \
	tests/unit/test_store_ladder \
	tests/unit/test_store_mark \
	tests/unit/test_store_memory \
	tests/unit/test_store_migrate \
	tests/unit/test_store_open \
	tests/unit/test_store_past \
	tests/unit/test_store_power \
	tests/unit/test_store_restore \
	tests/unit/test_store_rows \
	tests/unit/test_store_thread \
	tests/unit/test_store_trailer \
	tests/unit/test_tui_acts \
	tests/unit/test_tui_approvals \
	tests/unit/test_tui_cells \
	tests/unit/test_tui_dialog_gate \
	tests/unit/test_tui_field \
	tests/unit/test_tui_home \
	tests/unit/test_tui_input \
	tests/unit/test_tui_lanes \
	tests/unit/test_tui_list \
	tests/unit/test_tui_log \
	tests/unit/test_tui_model \
	tests/unit/test_tui_output \
	tests/unit/test_tui_program_text \
	tests/unit/test_tui_runs \
	tests/unit/test_tui_screens \
	tests/unit/test_tui_vterm \
	tests/unit/test_tui_waits \
	tests/unit/test_worker_adopt \
	tests/unit/test_worker_cache \
	tests/unit/test_worker_cage \
	tests/unit/test_worker_callers \
	tests/unit/test_worker_gpu \
	tests/unit/test_worker_guardian \
	tests/unit/test_worker_here \
	tests/unit/test_worker_keeper \
	tests/unit/test_worker_late \
	tests/unit/test_worker_ledger \
	tests/unit/test_worker_link \
	tests/unit/test_worker_link_context \
	tests/unit/test_worker_parts \
	tests/unit/test_worker_power \
	tests/unit/test_worker_recover \
	tests/unit/test_worker_result \
	tests/unit/test_worker_room \
	tests/unit/test_worker_script \
	tests/unit/test_worker_ship \
	tests/unit/test_worker_space \
	tests/unit/test_worker_spawn \
	tests/unit/test_worker_spool \
	tests/unit/test_worker_stage \
	tests/unit/test_worker_unsynced

tests_unit_test_base_buf_SOURCES = tests/unit/test_base_buf.c
tests_unit_test_base_buf_LDADD = $(base_libs)

tests_unit_test_base_clock_SOURCES = tests/unit/test_base_clock.c
tests_unit_test_base_clock_LDADD = $(base_libs)

tests_unit_test_base_cron_SOURCES = tests/unit/test_base_cron.c
tests_unit_test_base_cron_LDADD = $(base_libs)

tests_unit_test_base_glob_SOURCES = tests/unit/test_base_glob.c
tests_unit_test_base_glob_LDADD = $(base_libs)

tests_unit_test_base_histogram_SOURCES = tests/unit/test_base_histogram.c
tests_unit_test_base_histogram_LDADD = $(base_libs)

tests_unit_test_base_io_SOURCES = tests/unit/test_base_io.c
tests_unit_test_base_io_LDADD = $(base_libs)

tests_unit_test_base_log_SOURCES = tests/unit/test_base_log.c
tests_unit_test_base_log_LDADD = $(base_libs)

tests_unit_test_base_map_SOURCES = tests/unit/test_base_map.c
tests_unit_test_base_map_LDADD = $(base_libs)

tests_unit_test_base_mounts_SOURCES = tests/unit/test_base_mounts.c
tests_unit_test_base_mounts_LDADD = $(base_libs)

tests_unit_test_base_sha256_SOURCES = tests/unit/test_base_sha256.c
tests_unit_test_base_sha256_LDADD = $(base_libs)

tests_unit_test_base_statedir_SOURCES = tests/unit/test_base_statedir.c
tests_unit_test_base_statedir_LDADD = $(base_libs)

tests_unit_test_base_text_SOURCES = tests/unit/test_base_text.c
tests_unit_test_base_text_LDADD = $(base_libs)

tests_unit_test_base_when_SOURCES = tests/unit/test_base_when.c
tests_unit_test_base_when_LDADD = $(base_libs)

tests_unit_test_cli_act_SOURCES = tests/unit/test_cli_act.c
tests_unit_test_cli_act_LDADD = $(all_libs)

tests_unit_test_cli_conf_SOURCES = tests/unit/test_cli_conf.c
tests_unit_test_cli_conf_LDADD = $(all_libs)

tests_unit_test_cli_daemon_SOURCES = tests/unit/test_cli_daemon.c
tests_unit_test_cli_daemon_LDADD = $(all_libs)

tests_unit_test_cli_explain_SOURCES = tests/unit/test_cli_explain.c
tests_unit_test_cli_explain_LDADD = $(all_libs)

tests_unit_test_cli_follow_SOURCES = tests/unit/test_cli_follow.c
tests_unit_test_cli_follow_LDADD = $(all_libs)

tests_unit_test_cli_json_SOURCES = tests/unit/test_cli_json.c
tests_unit_test_cli_json_LDADD = $(all_libs)

tests_unit_test_cli_logs_SOURCES = tests/unit/test_cli_logs.c
tests_unit_test_cli_logs_LDADD = $(all_libs)

tests_unit_test_cli_ls_SOURCES = tests/unit/test_cli_ls.c
tests_unit_test_cli_ls_LDADD = $(all_libs)

tests_unit_test_cli_options_SOURCES = tests/unit/test_cli_options.c
tests_unit_test_cli_options_LDADD = $(all_libs)

tests_unit_test_cli_records_SOURCES = tests/unit/test_cli_records.c
tests_unit_test_cli_records_LDADD = $(all_libs)

tests_unit_test_cli_repl_SOURCES = tests/unit/test_cli_repl.c
tests_unit_test_cli_repl_LDADD = $(all_libs)

tests_unit_test_cli_repl_storm_SOURCES = tests/unit/test_cli_repl_storm.c
tests_unit_test_cli_repl_storm_LDADD = $(all_libs)

tests_unit_test_cli_session_SOURCES = tests/unit/test_cli_session.c
tests_unit_test_cli_session_LDADD = $(all_libs)

tests_unit_test_cli_submit_SOURCES = tests/unit/test_cli_submit.c
tests_unit_test_cli_submit_LDADD = $(all_libs)

tests_unit_test_cli_targets_SOURCES = tests/unit/test_cli_targets.c
tests_unit_test_cli_targets_LDADD = $(all_libs)

tests_unit_test_cli_undo_SOURCES = tests/unit/test_cli_undo.c
tests_unit_test_cli_undo_LDADD = $(all_libs)

tests_unit_test_cli_wait_SOURCES = tests/unit/test_cli_wait.c
tests_unit_test_cli_wait_LDADD = $(all_libs)

tests_unit_test_cli_where_SOURCES = tests/unit/test_cli_where.c
tests_unit_test_cli_where_LDADD = $(all_libs)

tests_unit_test_cli_words_SOURCES = tests/unit/test_cli_words.c
tests_unit_test_cli_words_LDADD = $(all_libs)

tests_unit_test_core_act_SOURCES = tests/unit/test_core_act.c
tests_unit_test_core_act_LDADD = $(core_libs)

tests_unit_test_core_acts_SOURCES = tests/unit/test_core_acts.c
tests_unit_test_core_acts_LDADD = $(core_libs)

tests_unit_test_core_artifacts_SOURCES = tests/unit/test_core_artifacts.c
tests_unit_test_core_artifacts_LDADD = $(core_libs)

tests_unit_test_core_asset_SOURCES = tests/unit/test_core_asset.c
tests_unit_test_core_asset_LDADD = $(core_libs)

tests_unit_test_core_attempt_SOURCES = tests/unit/test_core_attempt.c
tests_unit_test_core_attempt_LDADD = $(core_libs)

tests_unit_test_core_backoff_SOURCES = tests/unit/test_core_backoff.c
tests_unit_test_core_backoff_LDADD = $(core_libs)

tests_unit_test_core_caller_SOURCES = tests/unit/test_core_caller.c
tests_unit_test_core_caller_LDADD = $(core_libs)

tests_unit_test_core_cancel_SOURCES = tests/unit/test_core_cancel.c
tests_unit_test_core_cancel_LDADD = $(core_libs)

tests_unit_test_core_class_SOURCES = tests/unit/test_core_class.c
tests_unit_test_core_class_LDADD = $(core_libs)

tests_unit_test_core_clock_SOURCES = tests/unit/test_core_clock.c
tests_unit_test_core_clock_LDADD = $(core_libs)

tests_unit_test_core_clock_ages_SOURCES = tests/unit/test_core_clock_ages.c
tests_unit_test_core_clock_ages_LDADD = $(core_libs)

tests_unit_test_core_context_SOURCES = tests/unit/test_core_context.c
tests_unit_test_core_context_LDADD = $(core_libs)

tests_unit_test_core_dead_letters_SOURCES = tests/unit/test_core_dead_letters.c
tests_unit_test_core_dead_letters_LDADD = $(core_libs)

tests_unit_test_core_deadline_SOURCES = tests/unit/test_core_deadline.c
tests_unit_test_core_deadline_LDADD = $(core_libs)

tests_unit_test_core_delay_SOURCES = tests/unit/test_core_delay.c
tests_unit_test_core_delay_LDADD = $(core_libs)

tests_unit_test_core_ended_sums_SOURCES = tests/unit/test_core_ended_sums.c
tests_unit_test_core_ended_sums_LDADD = $(core_libs)

tests_unit_test_core_ending_SOURCES = tests/unit/test_core_ending.c
tests_unit_test_core_ending_LDADD = $(core_libs)

tests_unit_test_core_explain_quit_SOURCES = tests/unit/test_core_explain_quit.c
tests_unit_test_core_explain_quit_LDADD = $(core_libs)

tests_unit_test_core_explain_room_SOURCES = tests/unit/test_core_explain_room.c
tests_unit_test_core_explain_room_LDADD = $(core_libs)

tests_unit_test_core_explain_wait_SOURCES = tests/unit/test_core_explain_wait.c
tests_unit_test_core_explain_wait_LDADD = $(core_libs)

tests_unit_test_core_explain_worker_SOURCES = tests/unit/test_core_explain_worker.c
tests_unit_test_core_explain_worker_LDADD = $(core_libs)

tests_unit_test_core_expr_SOURCES = tests/unit/test_core_expr.c
tests_unit_test_core_expr_LDADD = $(core_libs)

tests_unit_test_core_fail_SOURCES = tests/unit/test_core_fail.c
tests_unit_test_core_fail_LDADD = $(core_libs)

tests_unit_test_core_files_SOURCES = tests/unit/test_core_files.c
tests_unit_test_core_files_LDADD = $(core_libs)

tests_unit_test_core_final_SOURCES = tests/unit/test_core_final.c
tests_unit_test_core_final_LDADD = $(core_libs)

tests_unit_test_core_final_begun_SOURCES = tests/unit/test_core_final_begun.c
tests_unit_test_core_final_begun_LDADD = $(core_libs)

tests_unit_test_core_gate_SOURCES = tests/unit/test_core_gate.c
tests_unit_test_core_gate_LDADD = $(core_libs)

tests_unit_test_core_gate_digest_SOURCES = tests/unit/test_core_gate_digest.c
tests_unit_test_core_gate_digest_LDADD = $(core_libs)

tests_unit_test_core_gate_expiry_SOURCES = tests/unit/test_core_gate_expiry.c
tests_unit_test_core_gate_expiry_LDADD = $(core_libs)

tests_unit_test_core_gate_form_SOURCES = tests/unit/test_core_gate_form.c
tests_unit_test_core_gate_form_LDADD = $(core_libs)

tests_unit_test_core_gate_list_SOURCES = tests/unit/test_core_gate_list.c
tests_unit_test_core_gate_list_LDADD = $(core_libs)

tests_unit_test_core_gate_pushback_SOURCES = tests/unit/test_core_gate_pushback.c
tests_unit_test_core_gate_pushback_LDADD = $(core_libs)

tests_unit_test_core_gate_votes_SOURCES = tests/unit/test_core_gate_votes.c
tests_unit_test_core_gate_votes_LDADD = $(core_libs)

tests_unit_test_core_graph_SOURCES = tests/unit/test_core_graph.c
tests_unit_test_core_graph_LDADD = $(core_libs)

tests_unit_test_core_graph_refused_SOURCES = tests/unit/test_core_graph_refused.c
tests_unit_test_core_graph_refused_LDADD = $(core_libs)

tests_unit_test_core_group_SOURCES = tests/unit/test_core_group.c
tests_unit_test_core_group_LDADD = $(core_libs)

tests_unit_test_core_grow_SOURCES = tests/unit/test_core_grow.c
tests_unit_test_core_grow_LDADD = $(core_libs)

tests_unit_test_core_grow_acts_SOURCES = tests/unit/test_core_grow_acts.c
tests_unit_test_core_grow_acts_LDADD = $(core_libs)

tests_unit_test_core_grow_refused_SOURCES = tests/unit/test_core_grow_refused.c
tests_unit_test_core_grow_refused_LDADD = $(core_libs)

tests_unit_test_core_hold_SOURCES = tests/unit/test_core_hold.c
tests_unit_test_core_hold_LDADD = $(core_libs)

tests_unit_test_core_lane_SOURCES = tests/unit/test_core_lane.c
tests_unit_test_core_lane_LDADD = $(core_libs)

tests_unit_test_core_life_SOURCES = tests/unit/test_core_life.c
tests_unit_test_core_life_LDADD = $(core_libs)

tests_unit_test_core_load_SOURCES = tests/unit/test_core_load.c
tests_unit_test_core_load_LDADD = $(core_libs)

tests_unit_test_core_load_decisions_SOURCES = tests/unit/test_core_load_decisions.c
tests_unit_test_core_load_decisions_LDADD = $(core_libs)

tests_unit_test_core_load_refused_SOURCES = tests/unit/test_core_load_refused.c
tests_unit_test_core_load_refused_LDADD = $(core_libs)

tests_unit_test_core_load_rows_SOURCES = tests/unit/test_core_load_rows.c
tests_unit_test_core_load_rows_LDADD = $(core_libs)

tests_unit_test_core_lock_SOURCES = tests/unit/test_core_lock.c
tests_unit_test_core_lock_LDADD = $(core_libs)

tests_unit_test_core_lock_people_SOURCES = tests/unit/test_core_lock_people.c
tests_unit_test_core_lock_people_LDADD = $(core_libs)

tests_unit_test_core_lock_served_SOURCES = tests/unit/test_core_lock_served.c
tests_unit_test_core_lock_served_LDADD = $(core_libs)

tests_unit_test_core_loop_SOURCES = tests/unit/test_core_loop.c
tests_unit_test_core_loop_LDADD = $(core_libs)

tests_unit_test_core_loop_edges_SOURCES = tests/unit/test_core_loop_edges.c
tests_unit_test_core_loop_edges_LDADD = $(core_libs)

tests_unit_test_core_memory_SOURCES = tests/unit/test_core_memory.c
tests_unit_test_core_memory_LDADD = $(core_libs)

tests_unit_test_core_modes_SOURCES = tests/unit/test_core_modes.c
tests_unit_test_core_modes_LDADD = $(core_libs)

tests_unit_test_core_noop_SOURCES = tests/unit/test_core_noop.c
tests_unit_test_core_noop_LDADD = $(core_libs)

tests_unit_test_core_outbox_SOURCES = tests/unit/test_core_outbox.c
tests_unit_test_core_outbox_LDADD = $(core_libs)

tests_unit_test_core_outputs_SOURCES = tests/unit/test_core_outputs.c
tests_unit_test_core_outputs_LDADD = $(core_libs)

tests_unit_test_core_place_SOURCES = tests/unit/test_core_place.c
tests_unit_test_core_place_LDADD = $(core_libs)

tests_unit_test_core_place_affinity_SOURCES = tests/unit/test_core_place_affinity.c
tests_unit_test_core_place_affinity_LDADD = $(core_libs)

tests_unit_test_core_place_charge_SOURCES = tests/unit/test_core_place_charge.c
tests_unit_test_core_place_charge_LDADD = $(core_libs)

tests_unit_test_core_place_here_SOURCES = tests/unit/test_core_place_here.c
tests_unit_test_core_place_here_LDADD = $(core_libs)

tests_unit_test_core_place_lock_SOURCES = tests/unit/test_core_place_lock.c
tests_unit_test_core_place_lock_LDADD = $(core_libs)

tests_unit_test_core_place_order_SOURCES = tests/unit/test_core_place_order.c
tests_unit_test_core_place_order_LDADD = $(core_libs)

tests_unit_test_core_place_owner_SOURCES = tests/unit/test_core_place_owner.c
tests_unit_test_core_place_owner_LDADD = $(core_libs)

tests_unit_test_core_place_prefer_SOURCES = tests/unit/test_core_place_prefer.c
tests_unit_test_core_place_prefer_LDADD = $(core_libs)

tests_unit_test_core_place_prefetch_SOURCES = tests/unit/test_core_place_prefetch.c
tests_unit_test_core_place_prefetch_LDADD = $(core_libs)

tests_unit_test_core_place_queue_SOURCES = tests/unit/test_core_place_queue.c
tests_unit_test_core_place_queue_LDADD = $(core_libs)

tests_unit_test_core_place_recall_SOURCES = tests/unit/test_core_place_recall.c
tests_unit_test_core_place_recall_LDADD = $(core_libs)

tests_unit_test_core_place_reserve_SOURCES = tests/unit/test_core_place_reserve.c
tests_unit_test_core_place_reserve_LDADD = $(core_libs)

tests_unit_test_core_progress_SOURCES = tests/unit/test_core_progress.c
tests_unit_test_core_progress_LDADD = $(core_libs)

tests_unit_test_core_prune_SOURCES = tests/unit/test_core_prune.c
tests_unit_test_core_prune_LDADD = $(core_libs)

tests_unit_test_core_prune_left_SOURCES = tests/unit/test_core_prune_left.c
tests_unit_test_core_prune_left_LDADD = $(core_libs)

tests_unit_test_core_reopen_SOURCES = tests/unit/test_core_reopen.c
tests_unit_test_core_reopen_LDADD = $(core_libs)

tests_unit_test_core_resources_SOURCES = tests/unit/test_core_resources.c
tests_unit_test_core_resources_LDADD = $(core_libs)

tests_unit_test_core_result_SOURCES = tests/unit/test_core_result.c
tests_unit_test_core_result_LDADD = $(core_libs)

tests_unit_test_core_retry_SOURCES = tests/unit/test_core_retry.c
tests_unit_test_core_retry_LDADD = $(core_libs)

tests_unit_test_core_round_SOURCES = tests/unit/test_core_round.c
tests_unit_test_core_round_LDADD = $(core_libs)

tests_unit_test_core_round_edges_SOURCES = tests/unit/test_core_round_edges.c
tests_unit_test_core_round_edges_LDADD = $(core_libs)

tests_unit_test_core_schedule_SOURCES = tests/unit/test_core_schedule.c
tests_unit_test_core_schedule_LDADD = $(core_libs)

tests_unit_test_core_schedule_acts_SOURCES = tests/unit/test_core_schedule_acts.c
tests_unit_test_core_schedule_acts_LDADD = $(core_libs)

tests_unit_test_core_schedule_edges_SOURCES = tests/unit/test_core_schedule_edges.c
tests_unit_test_core_schedule_edges_LDADD = $(core_libs)

tests_unit_test_core_schedule_many_SOURCES = tests/unit/test_core_schedule_many.c
tests_unit_test_core_schedule_many_LDADD = $(core_libs)

tests_unit_test_core_service_SOURCES = tests/unit/test_core_service.c
tests_unit_test_core_service_LDADD = $(core_libs)

tests_unit_test_core_spec_SOURCES = tests/unit/test_core_spec.c
tests_unit_test_core_spec_LDADD = $(core_libs)

tests_unit_test_core_spec_fields_SOURCES = tests/unit/test_core_spec_fields.c
tests_unit_test_core_spec_fields_LDADD = $(core_libs)

tests_unit_test_core_submit_size_SOURCES = tests/unit/test_core_submit_size.c
tests_unit_test_core_submit_size_LDADD = $(core_libs)

tests_unit_test_core_subrun_SOURCES = tests/unit/test_core_subrun.c
tests_unit_test_core_subrun_LDADD = $(core_libs)

tests_unit_test_core_subrun_acts_SOURCES = tests/unit/test_core_subrun_acts.c
tests_unit_test_core_subrun_acts_LDADD = $(core_libs)

tests_unit_test_core_subrun_edges_SOURCES = tests/unit/test_core_subrun_edges.c
tests_unit_test_core_subrun_edges_LDADD = $(core_libs)

tests_unit_test_core_subrun_unknown_SOURCES = tests/unit/test_core_subrun_unknown.c
tests_unit_test_core_subrun_unknown_LDADD = $(core_libs)

tests_unit_test_core_tenant_SOURCES = tests/unit/test_core_tenant.c
tests_unit_test_core_tenant_LDADD = $(core_libs)

tests_unit_test_core_tenant_set_SOURCES = tests/unit/test_core_tenant_set.c
tests_unit_test_core_tenant_set_LDADD = $(core_libs)

tests_unit_test_core_time_SOURCES = tests/unit/test_core_time.c
tests_unit_test_core_time_LDADD = $(core_libs)

tests_unit_test_core_token_SOURCES = tests/unit/test_core_token.c
tests_unit_test_core_token_LDADD = $(core_libs)

tests_unit_test_core_topic_SOURCES = tests/unit/test_core_topic.c
tests_unit_test_core_topic_LDADD = $(core_libs)

tests_unit_test_core_unknown_SOURCES = tests/unit/test_core_unknown.c
tests_unit_test_core_unknown_LDADD = $(core_libs)

tests_unit_test_core_values_SOURCES = tests/unit/test_core_values.c
tests_unit_test_core_values_LDADD = $(core_libs)

tests_unit_test_core_view_SOURCES = tests/unit/test_core_view.c
tests_unit_test_core_view_LDADD = $(core_libs)

tests_unit_test_core_view_people_SOURCES = tests/unit/test_core_view_people.c
tests_unit_test_core_view_people_LDADD = $(core_libs)

tests_unit_test_core_watch_SOURCES = tests/unit/test_core_watch.c
tests_unit_test_core_watch_LDADD = $(core_libs)

tests_unit_test_core_why_SOURCES = tests/unit/test_core_why.c
tests_unit_test_core_why_LDADD = $(core_libs)

tests_unit_test_core_worker_SOURCES = tests/unit/test_core_worker.c
tests_unit_test_core_worker_LDADD = $(core_libs)

tests_unit_test_core_worker_flap_SOURCES = tests/unit/test_core_worker_flap.c
tests_unit_test_core_worker_flap_LDADD = $(core_libs)

tests_unit_test_core_worker_link_SOURCES = tests/unit/test_core_worker_link.c
tests_unit_test_core_worker_link_LDADD = $(core_libs)

tests_unit_test_core_worker_pool_SOURCES = tests/unit/test_core_worker_pool.c
tests_unit_test_core_worker_pool_LDADD = $(core_libs)

tests_unit_test_core_worker_refuse_SOURCES = tests/unit/test_core_worker_refuse.c
tests_unit_test_core_worker_refuse_LDADD = $(core_libs)

tests_unit_test_core_worker_report_SOURCES = tests/unit/test_core_worker_report.c
tests_unit_test_core_worker_report_LDADD = $(core_libs)

tests_unit_test_goods_blobs_SOURCES = tests/unit/test_goods_blobs.c
tests_unit_test_goods_blobs_LDADD = $(goods_libs)

tests_unit_test_goods_folder_SOURCES = tests/unit/test_goods_folder.c
tests_unit_test_goods_folder_LDADD = $(goods_libs)

tests_unit_test_goods_manifest_SOURCES = tests/unit/test_goods_manifest.c
tests_unit_test_goods_manifest_LDADD = $(goods_libs)

tests_unit_test_lang_conditions_SOURCES = tests/unit/test_lang_conditions.c
tests_unit_test_lang_conditions_LDADD = $(lang_libs)

tests_unit_test_lang_conf_SOURCES = tests/unit/test_lang_conf.c
tests_unit_test_lang_conf_LDADD = $(lang_libs)

tests_unit_test_lang_context_SOURCES = tests/unit/test_lang_context.c
tests_unit_test_lang_context_LDADD = $(lang_libs)

tests_unit_test_lang_dagline_SOURCES = tests/unit/test_lang_dagline.c
tests_unit_test_lang_dagline_LDADD = $(lang_libs)

tests_unit_test_lang_demand_SOURCES = tests/unit/test_lang_demand.c
tests_unit_test_lang_demand_LDADD = $(lang_libs)

tests_unit_test_lang_label_SOURCES = tests/unit/test_lang_label.c
tests_unit_test_lang_label_LDADD = $(lang_libs)

tests_unit_test_lang_matrix_SOURCES = tests/unit/test_lang_matrix.c
tests_unit_test_lang_matrix_LDADD = $(lang_libs)

tests_unit_test_lang_pipeline_SOURCES = tests/unit/test_lang_pipeline.c
tests_unit_test_lang_pipeline_LDADD = $(lang_libs)

tests_unit_test_lang_setting_SOURCES = tests/unit/test_lang_setting.c
tests_unit_test_lang_setting_LDADD = $(lang_libs)

tests_unit_test_lang_shell_SOURCES = tests/unit/test_lang_shell.c
tests_unit_test_lang_shell_LDADD = $(lang_libs)

tests_unit_test_lang_write_SOURCES = tests/unit/test_lang_write.c
tests_unit_test_lang_write_LDADD = $(lang_libs)

tests_unit_test_lang_zone_SOURCES = tests/unit/test_lang_zone.c
tests_unit_test_lang_zone_LDADD = $(lang_libs)

tests_unit_test_master_answer_page_SOURCES = tests/unit/test_master_answer_page.c
tests_unit_test_master_answer_page_LDADD = $(all_libs)

tests_unit_test_master_clock_SOURCES = tests/unit/test_master_clock.c
tests_unit_test_master_clock_LDADD = $(all_libs)

tests_unit_test_master_fat_SOURCES = tests/unit/test_master_fat.c
tests_unit_test_master_fat_LDADD = $(all_libs)

tests_unit_test_master_goods_book_SOURCES = tests/unit/test_master_goods_book.c
tests_unit_test_master_goods_book_LDADD = $(all_libs)

tests_unit_test_master_greedy_SOURCES = tests/unit/test_master_greedy.c
tests_unit_test_master_greedy_LDADD = $(all_libs)

tests_unit_test_master_live_SOURCES = tests/unit/test_master_live.c
tests_unit_test_master_live_LDADD = $(all_libs)

tests_unit_test_master_live_tail_SOURCES = tests/unit/test_master_live_tail.c
tests_unit_test_master_live_tail_LDADD = $(all_libs)

tests_unit_test_master_logfile_SOURCES = tests/unit/test_master_logfile.c
tests_unit_test_master_logfile_LDADD = $(all_libs)

tests_unit_test_master_logpack_SOURCES = tests/unit/test_master_logpack.c
tests_unit_test_master_logpack_LDADD = $(all_libs)

tests_unit_test_master_logprune_SOURCES = tests/unit/test_master_logprune.c
tests_unit_test_master_logprune_LDADD = $(all_libs)

tests_unit_test_master_logs_SOURCES = tests/unit/test_master_logs.c
tests_unit_test_master_logs_LDADD = $(all_libs)

tests_unit_test_master_logstore_SOURCES = tests/unit/test_master_logstore.c
tests_unit_test_master_logstore_LDADD = $(all_libs)

tests_unit_test_master_power_SOURCES = tests/unit/test_master_power.c
tests_unit_test_master_power_LDADD = $(all_libs)

tests_unit_test_master_prune_SOURCES = tests/unit/test_master_prune.c
tests_unit_test_master_prune_LDADD = $(all_libs)

tests_unit_test_master_rate_SOURCES = tests/unit/test_master_rate.c
tests_unit_test_master_rate_LDADD = $(all_libs)

tests_unit_test_master_recent_SOURCES = tests/unit/test_master_recent.c
tests_unit_test_master_recent_LDADD = $(all_libs)

tests_unit_test_master_resub_SOURCES = tests/unit/test_master_resub.c
tests_unit_test_master_resub_LDADD = $(all_libs)

tests_unit_test_master_resume_SOURCES = tests/unit/test_master_resume.c
tests_unit_test_master_resume_LDADD = $(all_libs)

tests_unit_test_master_rights_SOURCES = tests/unit/test_master_rights.c
tests_unit_test_master_rights_LDADD = $(all_libs)

tests_unit_test_master_rough_SOURCES = tests/unit/test_master_rough.c
tests_unit_test_master_rough_LDADD = $(all_libs)

tests_unit_test_master_samples_SOURCES = tests/unit/test_master_samples.c
tests_unit_test_master_samples_LDADD = $(all_libs)

tests_unit_test_master_seal_SOURCES = tests/unit/test_master_seal.c
tests_unit_test_master_seal_LDADD = $(all_libs)

tests_unit_test_master_sight_SOURCES = tests/unit/test_master_sight.c
tests_unit_test_master_sight_LDADD = $(all_libs)

tests_unit_test_master_upload_SOURCES = tests/unit/test_master_upload.c
tests_unit_test_master_upload_LDADD = $(all_libs)

tests_unit_test_master_uploads_SOURCES = tests/unit/test_master_uploads.c
tests_unit_test_master_uploads_LDADD = $(all_libs)

tests_unit_test_master_version_SOURCES = tests/unit/test_master_version.c
tests_unit_test_master_version_LDADD = $(all_libs)

tests_unit_test_master_views_SOURCES = tests/unit/test_master_views.c
tests_unit_test_master_views_LDADD = $(all_libs)

tests_unit_test_master_watch_SOURCES = tests/unit/test_master_watch.c
tests_unit_test_master_watch_LDADD = $(all_libs)

tests_unit_test_net_channel_SOURCES = tests/unit/test_net_channel.c
tests_unit_test_net_channel_LDADD = $(all_libs)

tests_unit_test_net_client_SOURCES = tests/unit/test_net_client.c
tests_unit_test_net_client_LDADD = $(all_libs)

tests_unit_test_net_conn_SOURCES = tests/unit/test_net_conn.c
tests_unit_test_net_conn_LDADD = $(all_libs)

tests_unit_test_net_keyfile_SOURCES = tests/unit/test_net_keyfile.c
tests_unit_test_net_keyfile_LDADD = $(all_libs)

tests_unit_test_net_listen_SOURCES = tests/unit/test_net_listen.c
tests_unit_test_net_listen_LDADD = $(all_libs)

tests_unit_test_net_tls_SOURCES = tests/unit/test_net_tls.c
tests_unit_test_net_tls_LDADD = $(all_libs)

tests_unit_test_net_transport_SOURCES = tests/unit/test_net_transport.c
tests_unit_test_net_transport_LDADD = $(all_libs)

tests_unit_test_proto_codec_SOURCES = tests/unit/test_proto_codec.c
tests_unit_test_proto_codec_LDADD = $(proto_libs)

tests_unit_test_proto_error_SOURCES = tests/unit/test_proto_error.c
tests_unit_test_proto_error_LDADD = $(proto_libs)

tests_unit_test_proto_form_SOURCES = tests/unit/test_proto_form.c
tests_unit_test_proto_form_LDADD = $(proto_libs)

tests_unit_test_proto_frame_SOURCES = tests/unit/test_proto_frame.c
tests_unit_test_proto_frame_LDADD = $(proto_libs)

tests_unit_test_proto_job_output_SOURCES = tests/unit/test_proto_job_output.c
tests_unit_test_proto_job_output_LDADD = $(proto_libs)

tests_unit_test_proto_message_SOURCES = tests/unit/test_proto_message.c
tests_unit_test_proto_message_LDADD = $(proto_libs)

tests_unit_test_proto_rights_SOURCES = tests/unit/test_proto_rights.c
tests_unit_test_proto_rights_LDADD = $(proto_libs)

tests_unit_test_proto_spec_SOURCES = tests/unit/test_proto_spec.c
tests_unit_test_proto_spec_LDADD = $(proto_libs)

tests_unit_test_proto_states_SOURCES = tests/unit/test_proto_states.c
tests_unit_test_proto_states_LDADD = $(proto_libs)

tests_unit_test_proto_version_SOURCES = tests/unit/test_proto_version.c
tests_unit_test_proto_version_LDADD = $(proto_libs)

tests_unit_test_store_acts_SOURCES = tests/unit/test_store_acts.c
tests_unit_test_store_acts_LDADD = $(store_libs)

tests_unit_test_store_ballast_SOURCES = tests/unit/test_store_ballast.c
tests_unit_test_store_ballast_LDADD = $(store_libs)

tests_unit_test_store_fault_SOURCES = tests/unit/test_store_fault.c
tests_unit_test_store_fault_LDADD = $(store_libs)

tests_unit_test_store_ladder_SOURCES = tests/unit/test_store_ladder.c
tests_unit_test_store_ladder_LDADD = $(store_libs)

tests_unit_test_store_mark_SOURCES = tests/unit/test_store_mark.c
tests_unit_test_store_mark_LDADD = $(store_libs)

tests_unit_test_store_memory_SOURCES = tests/unit/test_store_memory.c
tests_unit_test_store_memory_LDADD = $(store_libs)

tests_unit_test_store_migrate_SOURCES = tests/unit/test_store_migrate.c
tests_unit_test_store_migrate_LDADD = $(store_libs)

tests_unit_test_store_open_SOURCES = tests/unit/test_store_open.c
tests_unit_test_store_open_LDADD = $(store_libs)

tests_unit_test_store_past_SOURCES = tests/unit/test_store_past.c
tests_unit_test_store_past_LDADD = $(store_libs)

tests_unit_test_store_power_SOURCES = tests/unit/test_store_power.c
tests_unit_test_store_power_LDADD = $(store_libs)

tests_unit_test_store_restore_SOURCES = tests/unit/test_store_restore.c
tests_unit_test_store_restore_LDADD = $(store_libs)

tests_unit_test_store_rows_SOURCES = tests/unit/test_store_rows.c
tests_unit_test_store_rows_LDADD = $(store_libs)

tests_unit_test_store_thread_SOURCES = tests/unit/test_store_thread.c
tests_unit_test_store_thread_LDADD = $(store_libs)

tests_unit_test_store_trailer_SOURCES = tests/unit/test_store_trailer.c
tests_unit_test_store_trailer_LDADD = $(store_libs)

tests_unit_test_tui_acts_SOURCES = tests/unit/test_tui_acts.c
tests_unit_test_tui_acts_LDADD = $(tui_libs)

tests_unit_test_tui_approvals_SOURCES = tests/unit/test_tui_approvals.c
tests_unit_test_tui_approvals_LDADD = $(tui_libs)

tests_unit_test_tui_cells_SOURCES = tests/unit/test_tui_cells.c
tests_unit_test_tui_cells_LDADD = $(tui_libs)

tests_unit_test_tui_dialog_gate_SOURCES = tests/unit/test_tui_dialog_gate.c
tests_unit_test_tui_dialog_gate_LDADD = $(tui_libs)

tests_unit_test_tui_field_SOURCES = tests/unit/test_tui_field.c
tests_unit_test_tui_field_LDADD = $(tui_libs)

tests_unit_test_tui_home_SOURCES = tests/unit/test_tui_home.c
tests_unit_test_tui_home_LDADD = $(tui_libs)

tests_unit_test_tui_input_SOURCES = tests/unit/test_tui_input.c
tests_unit_test_tui_input_LDADD = $(tui_libs)

tests_unit_test_tui_lanes_SOURCES = tests/unit/test_tui_lanes.c
tests_unit_test_tui_lanes_LDADD = $(tui_libs)

tests_unit_test_tui_list_SOURCES = tests/unit/test_tui_list.c
tests_unit_test_tui_list_LDADD = $(tui_libs)

tests_unit_test_tui_log_SOURCES = tests/unit/test_tui_log.c
tests_unit_test_tui_log_LDADD = $(tui_libs)

tests_unit_test_tui_model_SOURCES = tests/unit/test_tui_model.c
tests_unit_test_tui_model_LDADD = $(tui_libs)

tests_unit_test_tui_output_SOURCES = tests/unit/test_tui_output.c
tests_unit_test_tui_output_LDADD = $(tui_libs)

tests_unit_test_tui_program_text_SOURCES = tests/unit/test_tui_program_text.c
tests_unit_test_tui_program_text_LDADD = $(tui_libs)

tests_unit_test_tui_runs_SOURCES = tests/unit/test_tui_runs.c
tests_unit_test_tui_runs_LDADD = $(tui_libs)

tests_unit_test_tui_screens_SOURCES = tests/unit/test_tui_screens.c
tests_unit_test_tui_screens_LDADD = $(tui_libs)

tests_unit_test_tui_vterm_SOURCES = tests/unit/test_tui_vterm.c
tests_unit_test_tui_vterm_LDADD = $(tui_libs)

tests_unit_test_tui_waits_SOURCES = tests/unit/test_tui_waits.c
tests_unit_test_tui_waits_LDADD = $(tui_libs)

tests_unit_test_worker_adopt_SOURCES = tests/unit/test_worker_adopt.c
tests_unit_test_worker_adopt_LDADD = $(all_libs)

tests_unit_test_worker_cache_SOURCES = tests/unit/test_worker_cache.c
tests_unit_test_worker_cache_LDADD = $(all_libs)

tests_unit_test_worker_cage_SOURCES = tests/unit/test_worker_cage.c
tests_unit_test_worker_cage_LDADD = $(all_libs)

tests_unit_test_worker_callers_SOURCES = tests/unit/test_worker_callers.c
tests_unit_test_worker_callers_LDADD = $(all_libs)

tests_unit_test_worker_gpu_SOURCES = tests/unit/test_worker_gpu.c
tests_unit_test_worker_gpu_LDADD = $(all_libs)

tests_unit_test_worker_guardian_SOURCES = tests/unit/test_worker_guardian.c
tests_unit_test_worker_guardian_LDADD = $(all_libs)

tests_unit_test_worker_here_SOURCES = tests/unit/test_worker_here.c
tests_unit_test_worker_here_LDADD = $(all_libs)

tests_unit_test_worker_keeper_SOURCES = tests/unit/test_worker_keeper.c
tests_unit_test_worker_keeper_LDADD = $(all_libs)

tests_unit_test_worker_late_SOURCES = tests/unit/test_worker_late.c
tests_unit_test_worker_late_LDADD = $(all_libs)

tests_unit_test_worker_ledger_SOURCES = tests/unit/test_worker_ledger.c
tests_unit_test_worker_ledger_LDADD = $(all_libs)

tests_unit_test_worker_link_SOURCES = tests/unit/test_worker_link.c
tests_unit_test_worker_link_LDADD = $(all_libs)

tests_unit_test_worker_link_context_SOURCES = tests/unit/test_worker_link_context.c
tests_unit_test_worker_link_context_LDADD = $(all_libs)

tests_unit_test_worker_parts_SOURCES = tests/unit/test_worker_parts.c
tests_unit_test_worker_parts_LDADD = $(all_libs)

tests_unit_test_worker_power_SOURCES = tests/unit/test_worker_power.c
tests_unit_test_worker_power_LDADD = $(all_libs)

tests_unit_test_worker_recover_SOURCES = tests/unit/test_worker_recover.c
tests_unit_test_worker_recover_LDADD = $(all_libs)

tests_unit_test_worker_result_SOURCES = tests/unit/test_worker_result.c
tests_unit_test_worker_result_LDADD = $(all_libs)

tests_unit_test_worker_room_SOURCES = tests/unit/test_worker_room.c
tests_unit_test_worker_room_LDADD = $(all_libs)

tests_unit_test_worker_script_SOURCES = tests/unit/test_worker_script.c
tests_unit_test_worker_script_LDADD = $(all_libs)

tests_unit_test_worker_ship_SOURCES = tests/unit/test_worker_ship.c
tests_unit_test_worker_ship_LDADD = $(all_libs)

tests_unit_test_worker_space_SOURCES = tests/unit/test_worker_space.c
tests_unit_test_worker_space_LDADD = $(all_libs)

tests_unit_test_worker_spawn_SOURCES = tests/unit/test_worker_spawn.c
tests_unit_test_worker_spawn_LDADD = $(all_libs)

tests_unit_test_worker_spool_SOURCES = tests/unit/test_worker_spool.c
tests_unit_test_worker_spool_LDADD = $(all_libs)

tests_unit_test_worker_stage_SOURCES = tests/unit/test_worker_stage.c
tests_unit_test_worker_stage_LDADD = $(all_libs)

tests_unit_test_worker_unsynced_SOURCES = tests/unit/test_worker_unsynced.c
tests_unit_test_worker_unsynced_LDADD = $(all_libs)

unit_other = \
	tests/unit/cli_rig.h \
	tests/unit/core_grow.h \
	tests/unit/core_lock.h \
	tests/unit/core_place.h \
	tests/unit/core_prune.h \
	tests/unit/core_rig.h \
	tests/unit/core_rows.h \
	tests/unit/core_schedule.h \
	tests/unit/core_sub.h \
	tests/unit/core_why.h \
	tests/unit/keeper_rig.h \
	tests/unit/link_rig.h \
	tests/unit/master_box.h \
	tests/unit/master_picture.h \
	tests/unit/message_random.h \
	tests/unit/mounts.h \
	tests/unit/power_cuts.h \
	tests/unit/power_disk.h \
	tests/unit/power_files.h \
	tests/unit/scratch.h \
	tests/unit/store_box.h \
	tests/unit/store_fixture.h \
	tests/unit/store_layer.h \
	tests/unit/transport_split.h \
	tests/unit/tui_fixture.h
