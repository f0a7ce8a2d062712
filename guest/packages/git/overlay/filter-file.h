/* SPDX-License-Identifier: GPL-2.0-only */
/* A filter of one file that reads from a file: with a pipe, another process
 * would have to feed it. Included by convert.c. */

/* An open file, at its start, with what the filter shall read. */
static int filter_input(const struct filter_params *params)
{
	FILE *file;
	int fd;

	if (!params->src)
		return dup(params->fd);
	file = tmpfile();
	if (!file)
		return -1;
	fd = dup(fileno(file));
	fclose(file);
	if (fd >= 0 && (write_in_full(fd, params->src, params->size) < 0 ||
			lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int start_filter(struct child_process *child,
			const struct filter_params *params)
{
	struct strbuf cmd = STRBUF_INIT, path = STRBUF_INIT;
	struct strbuf_expand_dict_entry dict[] = { { "f", NULL }, { NULL, NULL } };

	sq_quote_buf(&path, params->path);
	dict[0].value = path.buf;
	strbuf_expand(&cmd, params->cmd, strbuf_expand_dict_cb, &dict);
	strvec_push(&child->args, cmd.buf);
	strbuf_release(&path);
	strbuf_release(&cmd);

	child->use_shell = 1;
	child->out = -1;
	child->in = filter_input(params);
	if (child->in < 0) {
		child_process_clear(child);
		return error(_("cannot feed the input to external filter '%s'"),
			     params->cmd);
	}
	if (start_command(child))
		return error(_("cannot fork to run external filter '%s'"),
			     params->cmd);
	return 0;
}

/* Returns 1, or 0 after a message. */
static int filter_file(const struct filter_params *params, struct strbuf *dst)
{
	struct child_process child = CHILD_PROCESS_INIT;
	struct strbuf out = STRBUF_INIT;
	int err, status;

	fflush(NULL);
	err = start_filter(&child, params);
	if (!err) {
		err = strbuf_read(&out, child.out, 0) < 0;
		if (close(child.out) || err)
			err = error(_("read from external filter '%s' failed"),
				    params->cmd);
		status = finish_command(&child);
		if (status)
			err = error(_("external filter '%s' failed %d"),
				    params->cmd, status);
	}
	if (err)
		error(_("external filter '%s' failed"), params->cmd);
	else
		strbuf_swap(dst, &out);
	strbuf_release(&out);
	return !err;
}
