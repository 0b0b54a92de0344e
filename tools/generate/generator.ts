/** The contract of a generator: one file, whose text follows from other files of the clone and from nothing else. */
export interface Generator {
  /** What it makes, from the root of the clone: in a folder called `generated`. */
  readonly path: string;
  /** The whole text. `root` is the directory of the clone. */
  generate(root: string): Promise<string>;
}
