/**
 * `$(NAME)` in a text, replaced by the value of NAME. `$$` stands for one `$`, so that `$$(NAME)` stays as it is but for one `$`; what
 * looks like neither is left alone. The time it takes grows with the length of the text, whatever stands there.
 */

/** Of a name that it does not know, `valueOf` says what stands there instead (usually `asWritten`). */
export function expand(text: string, valueOf: (name: string) => string): string {
  const lastCloser = text.lastIndexOf(")");
  let expanded = "";
  let done = 0;
  for (let at = text.indexOf("$"); at !== -1; at = text.indexOf("$", done)) {
    const next = text.charAt(at + 1);
    expanded += text.slice(done, at);
    done = at + 1;
    if (next === "$") {
      expanded += "$";
      done = at + 2;
    } else if (next === "(" && at < lastCloser) {
      const closer = text.indexOf(")", at);
      expanded += valueOf(text.slice(at + 2, closer));
      done = closer + 1;
    } else {
      expanded += "$";
    }
  }
  return expanded + text.slice(done);
}

export function asWritten(name: string): string {
  return `$(${name})`;
}

/** Texts of a container (command, args) with its environment; what is not in it stays as written. */
export function expandAll(texts: readonly string[] = [], environment: ReadonlyMap<string, string>): readonly string[] {
  return texts.map((text) => expand(text, (name) => environment.get(name) ?? asWritten(name)));
}
