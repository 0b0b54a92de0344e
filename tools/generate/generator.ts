/** The contract of a generator: files whose text follows from other files of the clone and its packages, and from nothing else. */
export interface Generator {
  /** `root` is the directory of the clone. */
  generate(root: string): Promise<readonly GeneratedFile[]>;
}

export interface GeneratedFile {
  /** From the root of the clone: in a folder called `generated`. */
  readonly path: string;
  /** The whole text. */
  readonly text: string;
}
