/** Thrown by a command whose answer is an exit code, such as that of a program that it ran for the user: k8ts ends with it, and has nothing to add. */
export class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
  /** 1 to 255. */
  readonly code: number;

  constructor(code: number) {
    super(`The program exited with code ${code}`);
    this.code = code;
  }
}
