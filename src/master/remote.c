/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Peers of other machines. The core has the tokens with sealed secrets, which only this file opens. During a handshake
 * a key is looked up by its identity, t1:ID for people and programs, w1:ID for workers, j1:ID for joining. A key of one kind isn't found
 * under the other, and an expired one isn't found at all.
 */
#include "master/remote.h"

#include <errno.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "master/internal.h"
#include "master/seal.h"
#include "net/dial.h"
#include "net/transport_tls.h"

#define LISTENERS_MAX 8
#define UNANSWERED_MIN_MS 4000

struct remote {
	bool has_key;
	uint8_t key[SEAL_KEY_SIZE];      /* the key that seals the secrets of tokens */
	struct tls_server *server;
	struct listener *listeners[LISTENERS_MAX];
	size_t count;
	uint64_t checked;                /* value of view_tokens_changed when connections were last checked */
};

/* ---- tokens ---- */

static enum err use_key(struct master *master, struct error *error)
{
	enum err err;

	if (master->remote->has_key)
		return ERR_NONE;
	err = seal_key_open(&master->options.statedir, master->remote->key, error);
	master->remote->has_key = err == ERR_NONE;
	return err;
}

enum err remote_seal(struct master *master, struct slice id, struct slice secret, uint8_t *ret_sealed, size_t *ret_len,
		     struct error *error)
{
	enum err err = use_key(master, error);

	if (err != ERR_NONE)
		return err;
	if (secret.len != TLS_KEY_SIZE)
		return error_set(error, ERR_INVALID, "the secret of a token has %d bytes, not %zu", TLS_KEY_SIZE, secret.len);
	_Static_assert(TLS_KEY_SIZE + SEAL_EXTRA <= TOKEN_SECRET_MAX, "a sealed secret fits");
	seal(master->remote->key, id, secret, ret_sealed);
	*ret_len = secret.len + SEAL_EXTRA;
	return ERR_NONE;
}

/* Find the token of an identity, if its kind is right and it hasn't expired. */
static bool valid_token(const struct master *master, const char *identity, struct token_view *ret_token)
{
	bool person = identity[0] == 't';
	role_set alone = identity[0] == 'w' ? ROLES_WORKER : identity[0] == 'j' ? ROLES_JOINER : 0;

	if ((!person && alone == 0) || strncmp(identity + 1, "1:", 2) != 0 ||
	    !view_token_find(master->core, slice_str(identity + 3), ret_token))
		return false;
	/* A key of one kind isn't found under another. */
	if (person ? (ret_token->roles & ~(role_set)ROLES_PERSON) != 0 : ret_token->roles != alone)
		return false;
	return ret_token->expires_ms == 0 || ret_token->expires_ms > clock_wall_ms();
}

static bool find_key_cb(const char *identity, uint8_t ret_key[TLS_KEY_SIZE], void *owner)
{
	struct master *master = owner;
	struct token_view token;
	uint8_t secret[TOKEN_SECRET_MAX];
	bool opened;

	if (!master->remote->has_key || !valid_token(master, identity, &token) || token.secret_len != TLS_KEY_SIZE + SEAL_EXTRA)
		return false;
	opened = seal_open(master->remote->key, slice_str(identity + 3), slice_make(token.secret, token.secret_len), secret);
	if (opened)
		memcpy(ret_key, secret, TLS_KEY_SIZE);
	else
		log_warn_limited("token %s can't be used: it was encrypted with another titan.key than the present one", identity + 3);
	OPENSSL_cleanse(secret, sizeof(secret));
	return opened;
}

/* Refuse the key of another worker: a bridge is for one worker alone. */
static bool is_other_worker(const struct peer_session *session, const struct identity *identity)
{
	return session->only_token[0] != '\0' && (identity->key[0] != 'w' || strcmp(identity->key + 3, session->only_token) != 0);
}

enum err remote_know(struct peer_session *session, struct error *error)
{
	struct master *master = session->master;
	struct identity identity;
	struct token_view token;

	if (conn_identity(session->conn, &identity) != 0 || identity.kind != IDENTITY_KEY ||
	    !valid_token(master, identity.key, &token) || is_other_worker(session, &identity))
		return error_set(error, ERR_DENIED, "the token was removed or has expired");
	session->principal = (struct principal){
		.id = principal_number(token.name, &master->owner), .origin = "tls", .roles = token.roles,
	};
	snprintf(session->principal.name, sizeof(session->principal.name), "%s", token.name);
	snprintf(session->token, sizeof(session->token), "%s", identity.key + 3);
	session->token_made_ms = token.made_ms;
	session->expires_ms = token.expires_ms;
	if (clock_wall_ms() - token.used_ms >= TOKEN_USE_MS)
		inbox_add(master, INPUT_TOKEN_USED, NULL, 0, 0)->token_used.id =
			arena_copy(&master->inbox.arena, slice_str(session->token));
	return ERR_NONE;
}

void remote_check(struct master *master)
{
	uint64_t changed = view_tokens_changed(master->core), id;
	struct token_view token;
	struct error error;
	size_t cursor = 0;
	void *value;

	if (master->remote->checked == changed)
		return;
	master->remote->checked = changed;
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		if (session->token[0] == '\0' || session->closing)
			continue;
		/* A token whose secret was replaced counts as another token: its holder has to prove the new secret. */
		if (view_token_find(master->core, slice_str(session->token), &token) && token.made_ms == session->token_made_ms)
			continue;
		error_set(&error, ERR_DENIED, "token %s was removed or replaced", session->token);
		session_fail(session, &error);
	}
}

/* ---- listening ---- */

static void peer_name(int fd, char ret_name[PEER_NAME_MAX])
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char host[40] = "?", port[8] = "?";

	if (getpeername(fd, (struct sockaddr *)&name, &len) == 0)
		getnameinfo((struct sockaddr *)&name, len, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(ret_name, PEER_NAME_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void accept_cb(int fd, void *owner)
{
	struct master *master = owner;
	struct peer_session *session;
	char name[PEER_NAME_MAX];

	if (!session_has_room(master, true)) {
		close(fd);               /* a peer that hasn't finished its TLS handshake can't be sent an error */
		return;
	}
	tcp_watch_silence(fd, master->options.lease_ms);
	/* The same for a peer that vanishes while bytes are on their way to it. One that doesn't read for so long is cut, too. */
	tcp_limit_unanswered(fd, master->options.lease_ms > UNANSWERED_MIN_MS ? master->options.lease_ms : UNANSWERED_MIN_MS);
	peer_name(fd, name);
	session = session_new(master, transport_tls_accept(master->remote->server, fd), &(struct caller){ 0 }, true);
	snprintf(session->peer, sizeof(session->peer), "%s", name);
}

static enum err use_server(struct master *master, struct error *error)
{
	enum err err = use_key(master, error);

	if (err == ERR_NONE && !master->remote->server)
		err = tls_server_new(find_key_cb, master, &master->remote->server, error);
	return err;
}

void remote_bridge(struct master *master, int fd, const char *worker, const char *token)
{
	struct peer_session *session;
	struct error error;

	if (use_server(master, &error) != ERR_NONE) {
		log_warn("a bridge to worker %s can't be used: %s", worker, error.text);
		close(fd);
		return;
	}
	if (!session_has_room(master, true)) {
		close(fd);
		return;
	}
	session = session_new(master, transport_tls_accept(master->remote->server, fd), &(struct caller){ 0 }, true);
	snprintf(session->peer, sizeof(session->peer), "the bridge to %.40s", worker);
	snprintf(session->only_token, sizeof(session->only_token), "%s", token);
}

static enum err listen_on(struct master *master, const char *address, struct error *error)
{
	struct remote *remote = master->remote;
	char bound[ADDRESS_MAX];
	enum err err;
	int fd;

	if (remote->count == LISTENERS_MAX)
		return error_set(error, ERR_TOO_LARGE, "a master listens on at most %d addresses", LISTENERS_MAX);
	err = listen_at(address, &fd, bound, error);
	if (err != ERR_NONE)
		return err;
	remote->listeners[remote->count++] = listener_new(master->loop, fd, master, accept_cb);
	log_info("listening on %s", bound);
	return ERR_NONE;
}

enum err remote_open(struct master *master, struct error *error)
{
	const char *list = master->options.listen ? master->options.listen : "", *end;
	enum err err = ERR_NONE;

	if (list[0] == '\0')
		return ERR_NONE;
	err = use_server(master, error);
	for (; err == ERR_NONE && list[0]; list = end[0] == ',' ? end + 1 : end) {
		char address[ADDRESS_MAX];

		end = list + strcspn(list, ",");
		if ((size_t)(end - list) >= sizeof(address))
			return error_set(error, ERR_USAGE, "an address to listen on is too long");
		memcpy(address, list, (size_t)(end - list));
		address[end - list] = '\0';
		err = listen_on(master, address, error);
	}
	return err;
}

void remote_pass(struct master *master)
{
	if (master->remote->server)
		tls_server_allow(master->remote->server, LIMIT_HANDSHAKES_AT_ONCE);
}

bool remote_has(struct master *master, const char *token)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value)) {
		const struct peer_session *session = value;

		if (session->kind == PEER_WORKER && session->stage == SESSION_OPEN && strcmp(session->token, token) == 0)
			return true;
	}
	return false;
}

void remote_stop(struct master *master)
{
	while (master->remote->count > 0)
		listener_free(master->remote->listeners[--master->remote->count]);
}

void remote_close(struct master *master)
{
	remote_stop(master);
	tls_server_free(master->remote->server);
	OPENSSL_cleanse(master->remote->key, SEAL_KEY_SIZE);
	mem_free(master->remote);
}

void remote_init(struct master *master)
{
	master->remote = mem_zalloc(sizeof(*master->remote));
}
