/** Thrown for files of flags that cannot be used: all problems at once, like those of the command line. */
export class UnusableFiles extends Error {
  override readonly name = "UnusableFiles";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("; "), options);
    this.problems = problems;
  }
}
