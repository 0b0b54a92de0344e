/** Thrown by a command that ran another program for the user, which has ended: k8ts ends with the same code, and has nothing to add. */
export class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
  /** 1 to 255. */
  readonly code: number;

  constructor(code: number) {
    super(`The program ended with ${code}`);
    this.code = code;
  }
}
