/** This program, with other arguments: how it starts itself again as another process. */

export interface SelfCommand {
  readonly command: string;
  readonly arguments: readonly string[];
}

/** `launcher`: a program that starts it, with its arguments. */
export function selfCommand(words: readonly string[], launcher: readonly string[] = []): SelfCommand {
  const [command = process.execPath, ...others] = [...launcher, process.execPath, ...process.execArgv, process.argv[1] ?? "", ...words];
  return { command, arguments: others };
}
