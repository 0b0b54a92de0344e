/** One-letter flags, for the few with an established short form. They expand to long ones and take values like those. Pure. */

/** `short`: long flag name by letter. Arguments after "--" are not changed. */
export function expandShortFlags(argv: readonly string[], short: Readonly<Record<string, string>>): readonly string[] {
  const end = argv.includes("--") ? argv.indexOf("--") : argv.length;
  return argv.map((word, index) => {
    const [, letter = "", rest = ""] = /^-([a-z])(=.*)?$/s.exec(word) ?? [];
    return index < end && Object.hasOwn(short, letter) ? `--${short[letter]}${rest}` : word;
  });
}
