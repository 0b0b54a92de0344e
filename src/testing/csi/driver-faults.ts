/**
 * Faults of the CSI driver for tests, each for the next call of a name. A driver in another process is controlled by files in a directory:
 *
 *     faults/METHOD    contains the fault; removed by the call that takes it
 *     hanging/METHOD   exists while such a call hangs
 *     calls            names of all calls, one per line
 */
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { aborted } from "../../base/abort.ts";

/** "fails": not executed; "fails afterwards": executed, and the answer is lost; "hangs": executed, and never answered. */
export type CsiFault = "fails" | "fails afterwards" | "hangs";

export const CSI_FAULTS: readonly CsiFault[] = ["fails", "fails afterwards", "hangs"];

export class DriverFaults {
  readonly #directory: string | undefined;
  readonly #next = new Map<string, CsiFault>();

  private constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /** Without a directory: of this process only. */
  static async open(directory?: string): Promise<DriverFaults> {
    if (directory !== undefined) await makeDirectories(directory);
    return new DriverFaults(directory);
  }

  set(method: string, fault: CsiFault): void {
    this.#next.set(method, fault);
  }

  /** The fault of this call, which no other call has. */
  async take(method: string): Promise<CsiFault | undefined> {
    if (this.#directory !== undefined) await appendFile(join(this.#directory, "calls"), `${method}\n`);
    const fault = this.#next.get(method) ?? (await this.#inFile(method));
    this.#next.delete(method);
    return fault;
  }

  /** Resolves when the caller gives up. */
  async hang(method: string, signal: AbortSignal): Promise<void> {
    const mark = this.#directory === undefined ? undefined : join(this.#directory, "hanging", method);
    if (mark !== undefined) await writeFile(mark, "");
    await aborted(signal);
    if (mark !== undefined) await rm(mark, { force: true });
  }

  async #inFile(method: string): Promise<CsiFault | undefined> {
    if (this.#directory === undefined) return undefined;
    const file = join(this.#directory, "faults", method);
    const text = await readFile(file, "utf8").catch(() => "");
    await rm(file, { force: true });
    return CSI_FAULTS.find((fault) => fault === text);
  }
}

/** The other side of the files. */
export class RemoteDriverFaults {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(directory: string): Promise<RemoteDriverFaults> {
    await makeDirectories(directory);
    return new RemoteDriverFaults(directory);
  }

  async set(method: string, fault: CsiFault): Promise<void> {
    await writeFile(join(this.#directory, "faults", method), fault);
  }

  /** True while such a call hangs. */
  async isHanging(method: string): Promise<boolean> {
    return (await readFile(join(this.#directory, "hanging", method)).catch(() => undefined)) !== undefined;
  }

  /** The driver was killed during the call. */
  async forget(method: string): Promise<void> {
    await rm(join(this.#directory, "hanging", method), { force: true });
  }

  /** Number of calls by name. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const text = await readFile(join(this.#directory, "calls"), "utf8").catch(() => "");
    const counts: Record<string, number> = {};
    for (const name of text.split("\n").filter((line) => line !== "")) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  }
}

async function makeDirectories(directory: string): Promise<void> {
  for (const part of ["faults", "hanging"]) await mkdir(join(directory, part), { recursive: true });
}
