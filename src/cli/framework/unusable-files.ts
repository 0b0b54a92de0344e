/** Files that were named by flags and cannot be used: told all at once, like everything else that is wrong with what was typed. */
export class UnusableFiles extends Error {
  override readonly name = "UnusableFiles";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("; "), options);
    this.problems = problems;
  }
}
