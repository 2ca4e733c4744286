/**
 * Rewrites arguments of the Go operator and of the Go pod controller, so that an image swap needs
 * no other flags (CLU-05).
 *
 * Promises: `-cluster-id x`, `-cluster-id=x` and their forms with two dashes are equivalent; a flag
 * under its Go name is ours; flags without a command mean `operator`; arguments in our form are
 * unchanged.
 */

/** Flags that need no command. */
const ABOUT_OURSELVES = new Set(['--help', '-h', '--version', '-v']);

/** One dash and a name of two or more letters, as Go's flag package writes it. */
const GO_FLAG = /^-[A-Za-z][-A-Za-z0-9]+(=.*)?$/s;

/** Names of flags that differ, in Go and here. */
const GO_NAMES = [['--priority-class-defaults', '--priority-class-defaults-file']] as const;

const underOurName = (argument: string): string => {
  for (const [theirs, ours] of GO_NAMES) {
    if (argument === theirs || argument.startsWith(`${theirs}=`)) {
      return ours + argument.slice(theirs.length);
    }
  }
  return argument;
};

const withTwoDashes = (argument: string): string =>
  GO_FLAG.test(argument) ? `-${argument}` : argument;

/** Values may begin with a dash (`-o -`), so only positions where a flag may stand are changed. */
export const normalizedArguments = (given: readonly string[]): readonly string[] => {
  const end = given.indexOf('--');
  const ours = end === -1 ? given : given.slice(0, end);
  const rest = end === -1 ? [] : given.slice(end);
  const flags = ours.map((argument) => underOurName(withTwoDashes(argument)));
  const first = flags[0];
  const name = first?.split('=', 1)[0] ?? '';
  const verbless = first?.startsWith('-') === true && !ABOUT_OURSELVES.has(name);
  return [...(verbless ? ['operator'] : []), ...flags, ...rest];
};
