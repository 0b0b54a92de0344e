/** The network components of a node as their processes report them. */
import { networkComponents } from "../../components/network/all.ts";
import { parseNetworkStatus } from "../../components/network/network-status-line.ts";
import type { RecordedPart } from "../home/cluster-record.ts";
import type { SupervisedProcess } from "../../processes/supervised-process.ts";

/** The network components and whether they run, from the lines that their processes print. */
export class ReportedComponents {
  readonly #onChange: () => void;
  readonly #lists = new Map<string, readonly RecordedPart[]>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  read(process: string, line: string): void {
    const list = parseNetworkStatus(line);
    if (list === undefined) return;
    this.#lists.set(process, list);
    this.#onChange();
  }

  /** In the order of one process. */
  parts(processes: ReadonlyMap<string, SupervisedProcess>): readonly RecordedPart[] {
    const all = [...processes].flatMap(([name, process]) =>
      (this.#lists.get(name) ?? []).map((part) => ({ ...part, ...processOf(process) })),
    );
    return networkComponents.flatMap(({ name }) => all.filter((part) => part.name === name));
  }
}

export function processOf({ process }: SupervisedProcess) {
  return process === undefined ? {} : { process };
}
