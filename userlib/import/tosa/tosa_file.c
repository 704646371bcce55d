/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TOSA file into the plain structures of tosa_file.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tosa_file.h"
#include "tosa_ids.h"

/* How many blocks, tensors, shapes, operators and names in lists have been counted. */
struct counts {
	int blocks, tensors, shapes, ops, names;
};

static void enter(struct fb *b, const char *what, long index)
{
	b->what = what;
	b->index = index;
}

/*
 * Sets *v to a bool field of table t: true for any byte other than 0, or `absent` if the field is
 * left out. Returns 0 or -EINVAL.
 */
static int bool_field(const struct fb *b, const struct fb_table *t, int field, bool absent, bool *v)
{
	int64_t i;
	int err = fb_int(b, t, field, 1, false, absent, &i);

	*v = i != 0;
	return err;
}

/*
 * Sets *name to a string field of table t, which points into the file; it is empty if the field is
 * absent. Returns 0, or -EINVAL with a line in b->msg, and *name unchanged, if the string has more
 * than TOSA_MAX_NAME (1024) bytes or does not lie in the file.
 */
static int name_field(const struct fb *b, const struct fb_table *t, int field, struct tosa_name *name)
{
	struct fb_vec v;
	int err = fb_vector(b, t, field, 1, &v);

	if (err < 0)
		return err;
	if (v.n > TOSA_MAX_NAME)
		return fb_fail(b, v.at, "name of %u bytes > %d", (unsigned)v.n, TOSA_MAX_NAME);
	*name = (struct tosa_name){ v.n ? (const char *)b->p + v.at : "", v.n };
	return 0;
}

/*
 * Sets *v to a field of table t that is a vector of strings, empty if the field is absent, and adds
 * the number of strings to n->names. Checks every string, so that tosa_string() cannot fail later.
 * Returns 0, or -EINVAL with a line in b->msg if the vector or a string does not lie in the file,
 * if a string has more than TOSA_MAX_NAME (1024) bytes, or if the file's lists have more than
 * TOSA_MAX_NAMES (2^17) names in all.
 */
static int strings_field(const struct fb *b, const struct fb_table *t, int field, struct fb_vec *v, struct counts *n)
{
	int err = fb_vector(b, t, field, 4, v);

	if (err < 0)
		return err;
	if (v->n > (uint32_t)(TOSA_MAX_NAMES - n->names))
		return fb_fail(b, v->at, "more than %d names in the file's lists", TOSA_MAX_NAMES);
	n->names += (int)v->n;
	for (uint32_t i = 0; i < v->n; i++) {
		struct fb_vec s;
		if ((err = fb_vector_string(b, v, i, &s)))
			return err;
		if (s.n > TOSA_MAX_NAME)
			return fb_fail(b, s.at, "name of %u bytes > %d", (unsigned)s.n, TOSA_MAX_NAME);
	}
	return 0;
}

/*
 * Returns string i of v, a vector of strings that tosa_read() has checked. The name points into the
 * file and is not terminated; its pointer is never NULL. A string that cannot be read counts as
 * empty.
 */
struct tosa_name tosa_string(const struct tosa_file *f, const struct fb_vec *v, uint32_t i)
{
	struct fb_vec s = { 0 };

	if (fb_vector_string(&f->b, v, i, &s) || !s.n)
		return (struct tosa_name){ "", 0 };
	return (struct tosa_name){ (const char *)f->b.p + s.at, s.n };
}

/*
 * Reads table i of v, a vector of tensors, and appends it to f->tensors, which has room. An unknown
 * type number becomes 0, an empty vector of data NULL; shape and data are not compared with each
 * other. Returns 0, or -EINVAL with a line in the message if the table is broken or a name is too
 * long; it is then not counted in f->n_tensors.
 */
static int read_tensor(struct tosa_file *f, const struct fb_vec *v, uint32_t i)
{
	struct fb *b = &f->b;
	struct tosa_tensor *t = &f->tensors[f->n_tensors];
	struct fb_table table;
	struct fb_vec data;
	int64_t type;
	int err;

	enter(b, "tensor", f->n_tensors);
	if ((err = fb_vector_table(b, v, i, &table)))
		return err;
	t->at = table.at;
	if ((err = name_field(b, &table, TOSA_TENSOR_NAME, &t->name)) ||
	    (err = fb_vector(b, &table, TOSA_TENSOR_SHAPE, 4, &t->shape)) < 0 ||
	    (err = fb_int(b, &table, TOSA_TENSOR_TYPE, 4, false, 0, &type)) ||
	    (err = fb_vector(b, &table, TOSA_TENSOR_DATA, 1, &data)) < 0 ||
	    (err = bool_field(b, &table, TOSA_TENSOR_VARIABLE, false, &t->variable)) ||
	    (err = bool_field(b, &table, TOSA_TENSOR_UNRANKED, false, &t->unranked)) ||
	    (err = name_field(b, &table, TOSA_TENSOR_VARIABLE_NAME, &t->variable_name)))
		return err;
	t->type = type > 0 && type < TOSA_N_TYPES ? (int)type : 0;
	t->data = data.n ? b->p + data.at : NULL;
	t->data_len = data.n;
	f->n_tensors++;
	return 0;
}

/*
 * Reads table i of v, a vector of constant shapes, and appends it to f->shapes, which has room. A
 * shape without values is one that is an input, or has rank 0. Returns 0, or -EINVAL if the table
 * is broken, its name is too long, or it has values, but not 8 bytes for each.
 */
static int read_shape(struct tosa_file *f, const struct fb_vec *v, uint32_t i)
{
	struct fb *b = &f->b;
	struct tosa_shape *s = &f->shapes[f->n_shapes];
	struct fb_table table;
	struct fb_vec bytes;
	int err;

	enter(b, "shape", f->n_shapes);
	if ((err = fb_vector_table(b, v, i, &table)))
		return err;
	s->at = table.at;
	if ((err = name_field(b, &table, TOSA_SHAPE_NAME, &s->name)) ||
	    (err = fb_int(b, &table, TOSA_SHAPE_RANK, 4, false, 0, &s->rank)) ||
	    (err = fb_vector(b, &table, TOSA_SHAPE_DATA, 1, &bytes)) < 0)
		return err;
	/* Without values: of an input. */
	if (bytes.n != 8 * s->rank && bytes.n)
		return fb_fail(b, table.at, "%u bytes for a shape of %lld values", (unsigned)bytes.n, (long long)s->rank);
	s->data = (struct fb_vec){ bytes.at, bytes.n / 8 };
	f->n_shapes++;
	return 0;
}

/*
 * Reads table i of v, a vector of operators, and appends it to f->ops, which has room; the names of
 * its operands and results are checked and counted in n->names. Neither the code nor the attributes
 * are judged; an operator without attribute table gets one without fields. Returns 0, or -EINVAL if
 * the table is broken, a name is too long or the file has too many names.
 */
static int read_op(struct tosa_file *f, const struct fb_vec *v, uint32_t i, struct counts *n)
{
	struct fb *b = &f->b;
	struct tosa_op *o = &f->ops[f->n_ops];
	struct fb_table table;
	int64_t type;
	int err;

	enter(b, "operator", f->n_ops);
	if ((err = fb_vector_table(b, v, i, &table)))
		return err;
	o->at = table.at;
	if ((err = fb_int(b, &table, TOSA_OP_OP, 4, false, 0, &o->code)) ||
	    (err = fb_int(b, &table, TOSA_OP_ATTRIBUTE_TYPE, 1, false, 0, &type)) ||
	    (err = fb_sub(b, &table, TOSA_OP_ATTRIBUTE, &o->attr)) < 0)
		return err;
	o->attr_type = (int)type;
	if (!err)
		o->attr = (struct fb_table){ .at = table.at };
	if ((err = strings_field(b, &table, TOSA_OP_INPUTS, &o->in, n)) ||
	    (err = strings_field(b, &table, TOSA_OP_OUTPUTS, &o->out, n)))
		return err;
	f->n_ops++;
	return 0;
}

/* What a block contains: vectors of tables. */
struct parts {
	struct fb_vec tensors, shapes, ops;
};

/*
 * Sets *p to the vectors of tensors, shapes and operators of a block's table; absent ones are
 * empty. Returns 0 or -EINVAL.
 */
static int read_parts(const struct fb *b, const struct fb_table *block, struct parts *p)
{
	int err;

	if ((err = fb_vector(b, block, TOSA_BLOCK_TENSORS, 4, &p->tensors)) < 0 ||
	    (err = fb_vector(b, block, TOSA_BLOCK_SHAPES, 4, &p->shapes)) < 0 ||
	    (err = fb_vector(b, block, TOSA_BLOCK_OPERATORS, 4, &p->ops)) < 0)
		return err;
	return 0;
}

/*
 * Reads table i of v, a vector of blocks, and appends it to f->blocks, and its tensors, shapes and
 * operators to their lists, all of which have room. Names in lists are counted in n->names. Returns
 * 0, or -EINVAL if a table is broken, a name is too long or the file has too many names.
 */
static int read_block(struct tosa_file *f, const struct fb_vec *v, uint32_t i, struct counts *n)
{
	struct fb *b = &f->b;
	struct tosa_block *k = &f->blocks[f->n_blocks];
	struct fb_table table;
	struct parts p;
	int err;

	enter(b, "block", f->n_blocks);
	if ((err = fb_vector_table(b, v, i, &table)))
		return err;
	k->at = table.at;
	if ((err = name_field(b, &table, TOSA_BLOCK_NAME, &k->name)) || (err = read_parts(b, &table, &p)) ||
	    (err = strings_field(b, &table, TOSA_BLOCK_INPUTS, &k->in, n)) ||
	    (err = strings_field(b, &table, TOSA_BLOCK_OUTPUTS, &k->out, n)))
		return err;
	k->tensor = f->n_tensors;
	k->shape = f->n_shapes;
	k->op = f->n_ops;
	for (uint32_t j = 0; !err && j < p.tensors.n; j++)
		err = read_tensor(f, &p.tensors, j);
	for (uint32_t j = 0; !err && j < p.shapes.n; j++)
		err = read_shape(f, &p.shapes, j);
	for (uint32_t j = 0; !err && j < p.ops.n; j++)
		err = read_op(f, &p.ops, j, n);
	k->n_tensors = f->n_tensors - k->tensor;
	k->n_shapes = f->n_shapes - k->shape;
	k->n_ops = f->n_ops - k->op;
	f->n_blocks++;
	return err;
}

/*
 * Adds the number of elements of v to *total. Returns 0, or -EINVAL with `what` in the message if
 * the sum would exceed max; *total is then unchanged.
 */
static int count(const struct fb *b, const struct fb_vec *v, const char *what, int *total, int max)
{
	if (v->n > (uint32_t)(max - *total))
		return fb_fail(b, v->at, "more than %d %s", max, what);
	*total += (int)v->n;
	return 0;
}

/*
 * Sets *blocks to the region's vector of blocks, and adds the numbers of its blocks, tensors,
 * shapes and operators to *n, so that memory can be taken for them. Returns 0, or -EINVAL if a
 * table is broken or a limit (TOSA_MAX_...) is exceeded.
 */
static int count_region(const struct fb *b, const struct fb_table *region, struct counts *n, struct fb_vec *blocks)
{
	int err = fb_vector(b, region, TOSA_REGION_BLOCKS, 4, blocks);

	if (err < 0 || (err = count(b, blocks, "blocks", &n->blocks, TOSA_MAX_BLOCKS)))
		return err;
	for (uint32_t i = 0; i < blocks->n; i++) {
		struct fb_table block;
		struct parts p;
		if ((err = fb_vector_table(b, blocks, i, &block)) || (err = read_parts(b, &block, &p)) ||
		    (err = count(b, &p.tensors, "tensors", &n->tensors, TOSA_MAX_TENSORS)) ||
		    (err = count(b, &p.shapes, "shapes", &n->shapes, TOSA_MAX_TENSORS)) ||
		    (err = count(b, &p.ops, "operators", &n->ops, TOSA_MAX_OPERATORS)))
			return err;
	}
	return 0;
}

/*
 * Allocates f's lists, all zero: n_regions regions, and as many blocks, tensors, shapes and
 * operators as *n says. tosa_release() frees them. Returns 0 or -ENOMEM.
 */
static int allocate(struct tosa_file *f, const struct counts *n, uint32_t n_regions)
{
	f->regions = calloc(n_regions + 1u, sizeof *f->regions);
	f->blocks = calloc((size_t)n->blocks + 1, sizeof *f->blocks);
	f->tensors = calloc((size_t)n->tensors + 1, sizeof *f->tensors);
	f->shapes = calloc((size_t)n->shapes + 1, sizeof *f->shapes);
	f->ops = calloc((size_t)n->ops + 1, sizeof *f->ops);
	if (f->regions && f->blocks && f->tensors && f->shapes && f->ops)
		return 0;
	fb_fail(&f->b, 0, "out of memory");
	return -ENOMEM;
}

/*
 * Counts what all regions hold, allocates f's lists for that, and reads the regions with their blocks into
 * them. Returns 0 or a negative errno; the caller frees the lists in each case.
 */
static int read_regions(struct tosa_file *f, const struct fb_vec *regions)
{
	struct fb *b = &f->b;
	struct counts n = { 0 };
	struct fb_table region;
	struct fb_vec blocks;
	int err = 0;

	for (uint32_t i = 0; i < regions->n; i++) {
		enter(b, "region", (long)i);
		if ((err = fb_vector_table(b, regions, i, &region)) || (err = count_region(b, &region, &n, &blocks)))
			return err;
	}
	if ((err = allocate(f, &n, regions->n)))
		return err;
	for (uint32_t i = 0; i < regions->n; i++) {
		struct tosa_region *r = &f->regions[i];
		struct counts again = { .names = n.names };
		enter(b, "region", (long)i);
		if ((err = fb_vector_table(b, regions, i, &region)) || (err = name_field(b, &region, TOSA_REGION_NAME, &r->name)) ||
		    (err = count_region(b, &region, &again, &blocks)))
			return err;
		r->block = f->n_blocks;
		for (uint32_t j = 0; !err && j < blocks.n; j++)
			err = read_block(f, &blocks, j, &n);
		if (err)
			return err;
		r->n_blocks = f->n_blocks - r->block;
		f->n_regions++;
	}
	return 0;
}

/*
 * Checks the version in the root table: 1.0 with any patch number, and no draft; a version that
 * does not say whether it is a draft counts as one. Returns 0, -ENOTSUP for another version, or
 * -EINVAL if there is none or the table is broken.
 */
static int check_version(struct fb *b, const struct fb_table *root)
{
	struct fb_table v;
	int64_t major, minor;
	bool draft;
	int err = fb_sub(b, root, TOSA_GRAPH_VERSION, &v);

	if (err < 0)
		return err;
	if (!err)
		return fb_fail(b, root->at, "no version");
	if ((err = fb_int(b, &v, TOSA_VERSION_MAJOR, 4, true, -1, &major)) ||
	    (err = fb_int(b, &v, TOSA_VERSION_MINOR, 4, true, -1, &minor)) ||
	    (err = bool_field(b, &v, TOSA_VERSION_DRAFT, true, &draft)))
		return err;
	if (major == 1 && minor == 0 && !draft)
		return 0;
	fb_fail(b, v.at, "version %lld.%lld%s, not 1.0", (long long)major, (long long)minor, draft ? " draft" : "");
	return -ENOTSUP;
}

/*
 * Reads the whole file into f: identifier, version, regions. Returns 0, -EINVAL (also if the file
 * has no block), -ENOTSUP or -ENOMEM; the caller frees what was read.
 */
static int read_all(struct tosa_file *f)
{
	struct fb *b = &f->b;
	struct fb_table root;
	struct fb_vec regions;
	int err;

	if (b->len < 8 || memcmp(b->p + 4, "TOSA", 4))
		return fb_fail(b, 4, "no TOSA identifier");
	if ((err = fb_root(b, &root)) || (err = check_version(b, &root)) ||
	    (err = fb_vector(b, &root, TOSA_GRAPH_REGIONS, 4, &regions)) < 0)
		return err;
	if (regions.n > TOSA_MAX_REGIONS)
		return fb_fail(b, regions.at, "%u regions > %d", (unsigned)regions.n, TOSA_MAX_REGIONS);
	if ((err = read_regions(f, &regions)))
		return err;
	enter(b, "TOSA file", -1);
	if (!f->n_blocks)
		return fb_fail(b, root.at, "no block");
	return 0;
}

/*
 * Reads the len bytes of a TOSA file into *f, which points into data, so data has to outlive it.
 * Returns 0, -EINVAL if the file is broken, has no block or exceeds a limit (TOSA_MAX_...),
 * -ENOTSUP for a version other than 1.0 or a draft, or -ENOMEM. After a failure one line is in msg
 * (msg_bytes bytes) and nothing is left to free.
 */
int tosa_read(struct tosa_file *f, const void *data, size_t len, char *msg, size_t msg_bytes)
{
	memset(f, 0, sizeof *f);
	f->b = (struct fb){ .p = data, .len = len, .what = "TOSA file", .index = -1, .msg = msg, .msg_bytes = msg_bytes };
	int err = read_all(f);
	if (err)
		tosa_release(f);
	return err;
}

/* Frees the lists of f and sets them to NULL. The file's bytes are the caller's and stay. */
void tosa_release(struct tosa_file *f)
{
	free(f->regions);
	free(f->blocks);
	free(f->tensors);
	free(f->shapes);
	free(f->ops);
	f->regions = NULL;
	f->blocks = NULL;
	f->tensors = NULL;
	f->shapes = NULL;
	f->ops = NULL;
}
