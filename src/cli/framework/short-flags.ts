/** Flags of one letter, for the few that everybody types so. They stand for long ones, and take values as those do. Pure. */

/** `short`: by letter, the name of the long one. What comes after "--" is left alone. */
export function expandShortFlags(argv: readonly string[], short: Readonly<Record<string, string>>): readonly string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  return argv.map((word, index) => {
    const [, letter = "", rest = ""] = /^-([a-z])(=.*)?$/s.exec(word) ?? [];
    return index < end && Object.hasOwn(short, letter) ? `--${short[letter]}${rest}` : word;
  });
}
