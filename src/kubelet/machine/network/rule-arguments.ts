/** Converts lines of `iptables -S` to the arguments that delete them. */

/** "-A CHAIN …" becomes "-D CHAIN …", "-N CHAIN" becomes "-X CHAIN"; a quoted text is one argument. */
export function deletionOf(listed: string): readonly string[] {
  const [flag, ...rest] = wordsOf(listed);
  return [flag === "-N" ? "-X" : "-D", ...rest];
}

/** Arguments are separated by blanks; double quotes keep blanks, and \" and \\ are escapes. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(WORD)].map(([, quoted, plain]) => (quoted === undefined ? (plain ?? "") : quoted.replace(/\\(.)/g, "$1")));
}

const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
