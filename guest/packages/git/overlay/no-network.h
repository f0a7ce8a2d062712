/* SPDX-License-Identifier: GPL-2.0-only */
/* A message for sandboxes without a network, in place of that for a host that
 * cannot be resolved. Included by remote-curl.c. */

static int no_network(void)
{
	struct strbuf routes = STRBUF_INIT;
	int is_empty;

	if (strbuf_read_file(&routes, "/proc/net/route", 0) < 0)
		return 0;
	is_empty = !strstr(routes.buf, "\t00000000\t");
	strbuf_release(&routes);
	return is_empty;
}

/* Does not return if there is no route to other hosts. */
static void no_network_die(const char *repository)
{
	if (no_network())
		die("unable to access '%s': there is no network in this sandbox; "
		    "clone a folder, a mount or a bundle instead", repository);
}
