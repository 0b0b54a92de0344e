/**
 * Between a process that supervises others and those: a pipe, the standard input of the supervised. As long as it is open the supervisor
 * lives; when it closes, also because the supervisor was killed with SIGKILL, the supervised process stops by itself, so that nothing of it
 * is left over. A line in it is an order to stop that says how, for which signals have no words.
 * Not here: starting such a process (child-process.ts).
 */
import { readLines } from "./read-lines.ts";

/** Marks a supervised process. */
export const SUPERVISED_VARIABLE = "K8TS_SUPERVISED";

/** The reason with which a process is stopped by its supervisor's word. */
export class StopOrder extends Error {
  override readonly name = "StopOrder";
  readonly order: string;

  constructor(order: string) {
    super(`The supervisor sent "${order}"`);
    this.order = order;
  }
}

/** Whether this process is supervised; then it is stopped when its supervisor is gone or says so. May be asked once. */
export function followSupervisor(stop: AbortController): boolean {
  const isSupervised = process.env[SUPERVISED_VARIABLE] === "1";
  // Not inherited by processes that this one starts.
  delete process.env[SUPERVISED_VARIABLE];
  if (!isSupervised) return false;
  void readLines(process.stdin, (order) => stop.abort(new StopOrder(order))).then(() => stop.abort());
  process.stdin.on("error", () => stop.abort());
  // Does not keep the process alive.
  process.stdin.unref();
  return true;
}
