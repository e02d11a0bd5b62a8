// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mem-search PID FILE...: looks through all memory of a stopped process that can be read, for the
 * bytes of each file (the first 16 suffice: a part of a secret is one too). Prints each place;
 * status 1 when there is one, 2 when it could not look.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEEDLE 16

static int search(const char *map, const unsigned char *bytes, size_t len, int files, char **names)
{
	unsigned char needle[NEEDLE];
	const unsigned char *hit;
	int found = 0;

	for (int i = 0; i < files; i++) {
		FILE *in = fopen(names[i], "r");

		if (!in || fread(needle, 1, NEEDLE, in) != NEEDLE)
			exit(2);
		fclose(in);
		hit = memmem(bytes, len, needle, NEEDLE);
		if (hit) {
			printf("%s at +0x%zx of %s", names[i], (size_t)(hit - bytes), map);
			found = 1;
		}
	}
	return found;
}

int main(int argc, char **argv)
{
	char path[64], line[512];
	int mem, found = 0, searched = 0;
	FILE *maps;

	if (argc < 3)
		return 2;
	snprintf(path, sizeof(path), "/proc/%s/maps", argv[1]);
	maps = fopen(path, "r");
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	mem = open(path, O_RDONLY);
	if (!maps || mem < 0) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		unsigned char *bytes;
		char mode[5];
		ssize_t n;

		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 || mode[0] != 'r' ||
		    strstr(line, "[v"))
			continue;
		bytes = malloc(end - start);
		n = bytes ? pread(mem, bytes, end - start, (off_t)start) : -1;
		if (n > 0) {
			searched++;
			found |= search(line, bytes, (size_t)n, argc - 2, argv + 2);
		}
		free(bytes);
	}
	if (searched < 10) {
		fprintf(stderr, "only %d mappings could be read\n", searched);
		return 2;
	}
	return found;
}
