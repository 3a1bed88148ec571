/**
 * Loaded into every process of a disturbed run by LD_PRELOAD: fsync and fdatasync take longer, and the time of day
 * drifts and jumps. The monotonic clock is untouched.
 *
 * The error of the time of day is a function of the seed and of the monotonic clock alone. So all processes of a run
 * see the same time, as they do on one machine, and no thread needs a lock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef JUMP_EVERY_MS
#define JUMP_EVERY_MS 5000
#endif
#define JUMP_MS_MAX 5
#define DRIFT_PPM 200
/** The clock runs fast for so long, then slow for as long. */
#define DRIFT_TURN_MS 20000
#define SYNC_MS_MAX 50

#define NS_PER_MS 1000000LL
#define NS_PER_SECOND 1000000000LL

static uint64_t seed;
static int is_postgres;
static atomic_uint_fast64_t syncs;

/** Written once, before the process has threads. */
static int (*next_clock_gettime)(clockid_t, struct timespec *);
static int (*next_fsync)(int);
static int (*next_fdatasync)(int);
static int (*next_execve)(const char *, char *const[], char *const[]);
static int (*next_execvpe)(const char *, char *const[], char *const[]);

static char preload_variable[4200];
static char run_variable[200];

__attribute__((constructor)) static void resolve(void) {
  *(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  *(void **)&next_fsync = dlsym(RTLD_NEXT, "fsync");
  *(void **)&next_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  *(void **)&next_execve = dlsym(RTLD_NEXT, "execve");
  *(void **)&next_execvpe = dlsym(RTLD_NEXT, "execvpe");
  const char *preload = getenv("LD_PRELOAD");
  const char *run = getenv("FLAKY_RUN");
  if (preload != NULL) snprintf(preload_variable, sizeof preload_variable, "LD_PRELOAD=%s", preload);
  if (run != NULL) snprintf(run_variable, sizeof run_variable, "FLAKY_RUN=%s", run);
  // It writes over its name later.
  is_postgres = strcmp(program_invocation_short_name, "postgres") == 0;
  seed = run == NULL ? 0 : strtoull(run, NULL, 10);
}

/** Constructors of other libraries may ask before ours ran. */
static int real_time(clockid_t clock, struct timespec *time) {
  if (next_clock_gettime != NULL) return next_clock_gettime(clock, time);
  return (int)syscall(SYS_clock_gettime, clock, time);
}

/** splitmix64: https://prng.di.unimi.it/splitmix64.c */
static uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/** By how much the time of day is wrong now, in nanoseconds. */
static int64_t error_ns(void) {
  struct timespec now;
  if (real_time(CLOCK_MONOTONIC, &now) != 0) return 0;
  const int64_t ns = now.tv_sec * NS_PER_SECOND + now.tv_nsec;
  const int64_t turn = DRIFT_TURN_MS * NS_PER_MS;
  const int64_t phase = ns % (2 * turn);
  const int64_t drift = (phase < turn ? phase : 2 * turn - phase) * DRIFT_PPM / 1000000;
  const uint64_t step = (uint64_t)(ns / (JUMP_EVERY_MS * NS_PER_MS));
  const int64_t most = JUMP_MS_MAX * NS_PER_MS;
  return drift + (int64_t)(mixed(mixed(seed) ^ step) % (uint64_t)(2 * most + 1)) - most;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const int result = real_time(clock, time);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const int64_t ns = time->tv_sec * NS_PER_SECOND + time->tv_nsec + error_ns();
  time->tv_sec = ns / NS_PER_SECOND;
  time->tv_nsec = ns % NS_PER_SECOND;
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  if (result != 0) return result;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}

/** Most waits are short and few are long, as on a disk: a quarter of the longest on average. */
static void wait_for_disk(void) {
  const uint64_t drawn = mixed(seed ^ ((uint64_t)getpid() << 32) ^ atomic_fetch_add(&syncs, 1));
  const double share = (double)(drawn >> 11) / (double)(1ULL << 53);
  const struct timespec wait = {0, (long)(share * share * share * SYNC_MS_MAX * NS_PER_MS)};
  nanosleep(&wait, NULL);
}

/**
 * PostgreSQL syncs a commit with fdatasync. With fsync it syncs the files of each database that a test makes or drops,
 * some hundred each time: minutes of a run that test nothing.
 */
int fsync(int file) {
  if (!is_postgres) wait_for_disk();
  return next_fsync(file);
}

int fdatasync(int file) {
  wait_for_disk();
  return next_fdatasync(file);
}

static size_t length_of(char *const variables[]) {
  size_t length = 0;
  while (variables != NULL && variables[length] != NULL) length += 1;
  return length;
}

/**
 * The variables with those of the run, in `all`, which has room for two more. Many tests give a process an environment
 * of its own, and its time must not be another one. Between fork and exec nothing may be allocated.
 */
static void with_run(char *const variables[], char *all[]) {
  char *added[] = {preload_variable, run_variable};
  size_t length = length_of(variables);
  for (size_t place = 0; place < length; place += 1) all[place] = variables[place];
  for (size_t one = 0; one < 2; one += 1) {
    const size_t name = strcspn(added[one], "=") + 1;
    int is_there = added[one][0] == '\0';
    for (size_t place = 0; place < length; place += 1) is_there |= strncmp(all[place], added[one], name) == 0;
    if (!is_there) all[length++] = added[one];
  }
  all[length] = NULL;
}

int execve(const char *path, char *const arguments[], char *const variables[]) {
  char *all[length_of(variables) + 3];
  with_run(variables, all);
  return next_execve(path, arguments, all);
}

int execvpe(const char *file, char *const arguments[], char *const variables[]) {
  char *all[length_of(variables) + 3];
  with_run(variables, all);
  return next_execvpe(file, arguments, all);
}

int execv(const char *path, char *const arguments[]) {
  return execve(path, arguments, environ);
}

int execvp(const char *file, char *const arguments[]) {
  return execvpe(file, arguments, environ);
}
