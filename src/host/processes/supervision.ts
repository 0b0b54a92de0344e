/**
 * Connects a supervisor and its supervised processes by a pipe: the standard input of the supervised. While it is open the supervisor
 * lives; when it closes, also because the supervisor was killed with SIGKILL, the supervised process stops by itself, so that no process is
 * orphaned. A line in it is a stop request with its mode, which a signal cannot carry. Not here: starting such a process
 * (child-process.ts).
 */
import { readLines } from "./read-lines.ts";

/** Marks a supervised process. */
export const SUPERVISED_VARIABLE = "K8TS_SUPERVISED";

/** Abort reason of a process that its supervisor stops. */
export class StopOrder extends Error {
  override readonly name = "StopOrder";
  readonly order: string;

  constructor(order: string) {
    super(`The supervisor sent "${order}"`);
    this.order = order;
  }
}

/** Abort reason of a process whose supervisor exited without stopping it: it was killed. */
export class SupervisorLost extends Error {
  override readonly name = "SupervisorLost";

  constructor() {
    super("The supervisor exited");
  }
}

/** True if this process is supervised; then it is stopped when its supervisor exits or requests it. Can be called once. */
export function followSupervisor(stop: AbortController): boolean {
  const isSupervised = process.env[SUPERVISED_VARIABLE] === "1";
  // Not inherited by processes that this one starts.
  delete process.env[SUPERVISED_VARIABLE];
  if (!isSupervised) return false;
  void readLines(process.stdin, (order) => stop.abort(new StopOrder(order))).then(() => stop.abort(new SupervisorLost()));
  process.stdin.on("error", () => stop.abort(new SupervisorLost()));
  // Does not keep the process alive.
  process.stdin.unref();
  return true;
}
