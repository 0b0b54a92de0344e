/**
 * Replaces `$(NAME)` in a text by the value of NAME. `$$` escapes one `$`, so `$$(NAME)` becomes `$(NAME)`; anything else is kept. Takes
 * linear time for any input.
 */

/** `valueOf` returns the replacement of an unknown name (usually `asWritten`). */
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

/** Expands texts of a container (command, args) with its environment; unknown references are kept. */
export function expandAll(texts: readonly string[] = [], environment: ReadonlyMap<string, string>): readonly string[] {
  return texts.map((text) => expand(text, (name) => environment.get(name) ?? asWritten(name)));
}
