/** A proxy mode in memory, for tests of the engine: records the models and can fail. */
import { UnsupportedModeError, type AppliedChange, type IntactCheck, type ProxyMode } from "../appliers/applier.ts";
import type { ProxyModel } from "../model.ts";

export class RecordingMode implements ProxyMode {
  readonly name: string;
  /** All that happened: "open", "apply 2", "quick check", "thorough check", "close", "clean up". */
  readonly happened: string[] = [];
  readonly models: ProxyModel[] = [];
  /** Called by `apply` with its number, from 1. May reject. */
  onApply: (count: number) => Promise<void> = () => Promise.resolve();
  isIntact = true;
  unsupported: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Names of the last model's service ports: "default/web:http/TCP/4=10.0.0.1". */
  get last(): readonly string[] {
    return [...(this.models.at(-1)?.servicePorts.values() ?? [])].map(
      ({ key, clusterEndpoints }) => `${key}=${clusterEndpoints.map(({ address }) => address).join(",")}`,
    );
  }

  async open() {
    if (this.unsupported !== undefined) throw new UnsupportedModeError(this.unsupported);
    this.happened.push("open");
    return {
      apply: (model: ProxyModel) => this.#apply(model),
      isIntact: async (check: IntactCheck) => {
        this.happened.push(`${check} check`);
        return this.isIntact;
      },
      [Symbol.asyncDispose]: async () => void this.happened.push("close"),
    };
  }

  async cleanUp(): Promise<void> {
    this.happened.push("clean up");
  }

  async #apply(model: ProxyModel): Promise<AppliedChange> {
    this.models.push(model);
    this.happened.push(`apply ${model.servicePorts.size}`);
    await this.onApply(this.models.length);
    this.isIntact = true;
    return { written: model.servicePorts.size };
  }
}
