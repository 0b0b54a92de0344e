/** The lines that `iptables -S` prints, as the arguments that take them away again. */

/** "-A CHAIN …" becomes "-D CHAIN …", "-N CHAIN" becomes "-X CHAIN"; quoted words are one argument. */
export function deletionOf(listed: string): readonly string[] {
  const [flag, ...rest] = wordsOf(listed);
  return [flag === "-N" ? "-X" : "-D", ...rest];
}

/** Words are separated by blanks; within double quotes blanks belong to the word, and \" and \\ are characters. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(WORD)].map(([, quoted, plain]) => (quoted === undefined ? (plain ?? "") : quoted.replace(/\\(.)/g, "$1")));
}

const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
