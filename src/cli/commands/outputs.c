/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outputs.def and fields.def as tables. The plain settings of a job are fields, too. */
#include "cli/commands/outputs.h"

#include <string.h>

const struct output_info output_table[] = {
#define OUTPUT(command, words, shape, name) { COMMAND_##command, words, OUTPUT_##shape, &name##_table },
#define OUTPUT_TEXT(command)
#include "cli/commands/outputs.def"
#undef OUTPUT
#undef OUTPUT_TEXT
};

const size_t output_count = sizeof(output_table) / sizeof(output_table[0]);

bool output_is_text(enum command_id command)
{
	switch (command) {
#define OUTPUT(command, words, shape, name)
#define OUTPUT_TEXT(command) case COMMAND_##command:
#include "cli/commands/outputs.def"
#undef OUTPUT
#undef OUTPUT_TEXT
		return true;
	default:
		return false;
	}
}

static const struct shown_field fields[] = {
#define FIELD(name, type, text) { #name, SHOWN_##type, text },
#include "cli/show/fields.def"
#undef FIELD
};

bool field_find(const char *name, struct shown_field *ret)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].name, name) == 0) {
			*ret = fields[i];
			return true;
		}
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape == SHAPE_OWN || strcmp(setting->field, name) != 0)
			continue;
		*ret = (struct shown_field){
			setting->field, setting->shape == SHAPE_TEXT ? SHOWN_TEXT : setting->shape == SHAPE_TIME ? SHOWN_TIME : SHOWN_INT,
			setting->text,
		};
		return true;
	}
	return false;
}
