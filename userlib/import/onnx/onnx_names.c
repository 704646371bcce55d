/* SPDX-License-Identifier: Apache-2.0 */
/* The table of values and how they are found by name, and messages. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_lower.h"

/* Replaces each control character of a message by '?', since names in it come from the file. */
static void clean(char *msg)
{
	for (unsigned char *p = (unsigned char *)msg; *p; p++)
		if (*p < ' ' || *p == 127)
			*p = '?';
}

/*
 * Writes the formatted message to l->msg, with the index and type of the node at hand in front if
 * there is one and '?' for control characters, and sets l->err to err. After -ENOMEM l->no_memory
 * is set for the rest of the import. Returns err, a negative errno.
 */
int ox_fail(struct ox *l, int err, const char *format, ...)
{
	int n = 0;
	va_list ap;

	l->err = err;
	l->no_memory |= err == -ENOMEM;
	if (l->n)
		n = snprintf(l->msg, WEFT_MSG, "node %d %.40s: ", l->i_node, l->n->op_type);
	va_start(ap, format);
	vsnprintf(l->msg + n, WEFT_MSG - (size_t)n, format, ap);
	va_end(ap);
	clean(l->msg);
	return err;
}

/* Returns the 32-bit FNV-1a hash of a name. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 2166136261u;      /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h;
}

/*
 * Returns the index in the hash table where the value with this name is, or else the free place
 * where it belongs. The table always has free places.
 */
static uint32_t slot(const struct ox *l, const char *name)
{
	uint32_t i = hash_of(name) & (l->n_hash - 1);

	while (l->hash[i] >= 0 && strcmp(l->values[l->hash[i]].name, name))
		i = (i + 1) & (l->n_hash - 1);
	return i;
}

int ox_value_find(const struct ox *l, const char *name)
{
	return l->hash[slot(l, name)];
}

struct ox_value ox_blank(const char *name)
{
	return (struct ox_value){ .name = name, .maker = -1, .pending = -1, .carrier = -1, .dq = -1 };
}

/*
 * Returns a new value whose only form is the given tensor, with dimensions in the file's order.
 * Type and shape are the tensor's; nothing else is known of it. The value is not entered in the
 * table, and the name is not copied.
 */
struct ox_value ox_held(const struct ox *l, const char *name, int tensor)
{
	struct ox_value v = ox_blank(name);

	v.t = *ox_t(l, tensor);
	v.t.data = NULL;
	v.n_forms = 1;
	v.form[0] = (struct ox_form){ .tensor = tensor, .perm = { 0, 1, 2, 3, 4, 5, 6, 7 } };
	return v;
}

/*
 * Enters all values that have a name in the hash table, which the caller has emptied; of equal
 * names the first counts. Returns 0.
 */
int ox_rehash(struct ox *l)
{
	for (int i = 0; i < l->n_values; i++)
		if (*l->values[i].name && l->hash[slot(l, l->values[i].name)] < 0)
			l->hash[slot(l, l->values[i].name)] = i;
	return 0;
}

/*
 * Returns the index of the value with this name. If there is none yet, a blank value with this name
 * is appended to the table; the name is not copied. The table is made large enough for all names of
 * the file; if it is full all the same, -EINVAL is returned.
 */
int ox_value_new(struct ox *l, const char *name)
{
	uint32_t i = slot(l, name);

	if (l->hash[i] >= 0)
		return l->hash[i];
	if (l->n_values == l->cap_values)
		return ox_fail(l, -EINVAL, "more values than names");
	l->values[l->n_values] = ox_blank(name);
	return l->hash[i] = l->n_values++;
}
