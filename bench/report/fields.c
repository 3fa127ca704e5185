/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/text.h"

int fields_fail(const struct fields *fields, const char *key, const char *must)
{
	snprintf(fields->error->text, sizeof(fields->error->text), "%.512s: %s%s%s must be %s; %s",
		 fields->input, fields->where, *fields->where ? "." : "", key, must,
		 FIELDS_ACCEPTED);
	return -EINVAL;
}

int fields_enter(const struct fields *fields, const char *key, json_t *array, size_t index,
		 struct fields *ret_fields)
{
	struct fields entered = *fields;

	snprintf(entered.where, sizeof(entered.where), "%.40s%s%.20s[%zu]", fields->where,
		 *fields->where ? "." : "", key, index);
	entered.object = json_array_get(array, index);
	if (!json_is_object(entered.object)) {
		snprintf(fields->error->text, sizeof(fields->error->text),
			 "%.512s: %s must be an object; %s", fields->input, entered.where,
			 FIELDS_ACCEPTED);
		return -EINVAL;
	}
	*ret_fields = entered;
	return 0;
}

int fields_text(const struct fields *fields, const char *key, bool optional, const char **ret_text)
{
	json_t *value = json_object_get(fields->object, key);
	const char *text = json_string_value(value);

	if (!value && optional) {
		*ret_text = NULL;
		return 0;
	}
	if (!text || strlen(text) > TEXT_LINE_MAX || !text_is_printable(text))
		return fields_fail(fields, key, "a line of text without control characters");
	*ret_text = text;
	return 0;
}

int fields_name(const struct fields *fields, const char *key, const char **ret_name)
{
	const char *name = json_string_value(json_object_get(fields->object, key));

	if (!name || !*name || strlen(name) > TEXT_NAME_MAX || !text_is_printable(name))
		return fields_fail(fields, key, "a name of 1 to 512 printable bytes");
	*ret_name = name;
	return 0;
}

int fields_integer(const struct fields *fields, const char *key, int64_t max, int64_t *ret_value)
{
	json_t *value = json_object_get(fields->object, key);
	char must[64];

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > max) {
		snprintf(must, sizeof(must), "an integer from 0 to %lld", (long long)max);
		return fields_fail(fields, key, must);
	}
	*ret_value = json_integer_value(value);
	return 0;
}

int fields_number(const struct fields *fields, const char *key, double *ret_value)
{
	json_t *value = json_object_get(fields->object, key);

	/* jansson reads no infinities and no NaN. */
	if (!json_is_number(value) || json_number_value(value) < 0)
		return fields_fail(fields, key, "a number, at least 0");
	*ret_value = json_number_value(value);
	return 0;
}

int fields_flag(const struct fields *fields, const char *key, bool *ret_value)
{
	json_t *value = json_object_get(fields->object, key);

	if (value && !json_is_boolean(value))
		return fields_fail(fields, key, "true or false");
	*ret_value = json_is_true(value);
	return 0;
}

int fields_array(const struct fields *fields, const char *key, bool optional, json_t **ret_array)
{
	json_t *value = json_object_get(fields->object, key);

	if (!json_is_array(value) && (value || !optional))
		return fields_fail(fields, key, "an array");
	*ret_array = value;
	return 0;
}

int fields_object(const struct fields *fields, const char *key, json_t **ret_object)
{
	json_t *value = json_object_get(fields->object, key);

	if (!json_is_object(value))
		return fields_fail(fields, key, "an object");
	*ret_object = value;
	return 0;
}
