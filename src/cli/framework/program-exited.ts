/**
 * Thrown by a command whose result is an exit code, such as that of a program it ran for the user: k8ts exits with it and prints nothing.
 */
export class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
  /** 1 to 255. */
  readonly code: number;

  constructor(code: number) {
    super(`The program exited with code ${code}`);
    this.code = code;
  }
}
