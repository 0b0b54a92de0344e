/** The contract of a generator: files whose text is derived only from other files of the clone and its packages. */
export interface Generator {
  /** `root` is the root directory of the clone. */
  generate(root: string): Promise<readonly GeneratedFile[]>;
}

export interface GeneratedFile {
  /** From the root of the clone: in a folder called `generated`. */
  readonly path: string;
  /** The complete text. */
  readonly text: string;
}
