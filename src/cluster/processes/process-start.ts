/** What the processes of `k8ts up --processes` are started with: shared by the parts of the control plane, the node and the simulated nodes. */
import type { Clock } from "../../base/clock.ts";
import type { Disposables } from "../../base/disposables.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import { pkiDirectory } from "../../pki/pki-directory.ts";
import { openPki, type Pki } from "../../pki/pki.ts";
import type { StartClusterContext, StartedCluster } from "../start-cluster.ts";
import type { UpOptions } from "../up-options.ts";
import type { SupervisedProcess, SupervisedProcessOptions } from "../../processes/supervised-process.ts";

/** Stop timeout of components without graceful work. */
export const STOP_WITHIN_MS = 15_000;

export type OwnOptions = Pick<SupervisedProcessOptions, "name" | "logFile" | "words" | "ready">;

export interface NodeStart {
  readonly options: UpOptions;
  readonly context: StartClusterContext;
  readonly door: NonNullable<StartedCluster["door"]>;
  supervise(step: string, part: OwnOptions & Partial<SupervisedProcessOptions>): Promise<SupervisedProcess>;
  /** Called when a component reports a change. */
  onChange(): void;
  readonly owner: Disposables;
}

export function certificateDirectory({ apiServer }: UpOptions): string {
  return apiServer.serving.certificateDirectory ?? "";
}

/** The server itself determines the names in its certificate. */
export function pkiOf(directory: string, clock: Clock): Promise<Pki> {
  return openPki({ place: pkiDirectory(directory, clock), maker: machineMaker, servingNames: [], nowMs: clock.now() });
}
