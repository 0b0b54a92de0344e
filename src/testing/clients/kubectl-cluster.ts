/**
 * A whole cluster in this process that the real kubectl talks to over HTTPS. An unexpected error in any component fails the test that
 * disposes of it.
 */
import type { Event } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import { createLogger, formatHuman } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import type { Cluster, ClusterOptions } from "../../embedded/cluster.ts";
import { startCluster } from "../../embedded/start-cluster.ts";
import { toolPath } from "../needs.ts";
import { clientProgram, type ClientProgram } from "./client-program.ts";

export interface KubectlCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  /** Requires `needs("kubectl")` in the test. */
  readonly kubectl: ClientProgram;
  /** Creates a namespace in which pods can be created, and returns a kubectl that works in it. */
  inNamespace(name: string): Promise<ClientProgram>;
  /** Resolves when an Event with this reason about the Pod exists. Events are written after the change that they report. */
  eventEmitted(pod: { readonly namespace: string; readonly name: string }, reason: string): Promise<void>;
  /** Rejects if a component of the cluster logged an error. */
  close(): Promise<void>;
}

export async function startKubectlCluster(options: Omit<ClusterOptions, "listen" | "log"> = {}): Promise<KubectlCluster> {
  await using starting = new Disposables();
  const directory = starting.use(await makeTemporaryDirectory("k8ts-kubectl-")).path;
  const errors: string[] = [];
  const sink = (line: Parameters<typeof formatHuman>[0]): void => void (line.level === "error" && errors.push(formatHuman(line)));
  const log = createLogger({ sink, clock: realClock, level: "info" });
  const cluster = starting.use(await startCluster({ ...options, listen: true, log }));
  const running = starting.move();
  const close = async (): Promise<void> => {
    await running[Symbol.asyncDispose]();
    if (errors.length > 0) throw new Error(`The cluster logged ${errors.length} errors:\n${errors.join("\n")}`);
  };
  const kubectl = (): ClientProgram => kubectlOf(cluster, directory);
  return {
    cluster,
    get kubectl() {
      return kubectl();
    },
    async inNamespace(name) {
      await cluster.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
      await cluster.until("serviceaccount/default", (account) => account !== undefined, { namespace: name });
      return kubectl().with(`--namespace=${name}`);
    },
    async eventEmitted({ namespace, name }, reason) {
      const isWanted = (event: Event): boolean => event.reason === reason && event.involvedObject.name === name;
      await cluster.until<Event>("events", (events) => events.some(isWanted), { namespace });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function kubectlOf({ kubeconfig }: Cluster, directory: string): ClientProgram {
  const places = { PATH: process.env["PATH"] ?? "", HOME: directory, TMPDIR: directory, KUBECONFIG: kubeconfig };
  // kubectl runs for a tenth of a second; garbage collection would take a third of that.
  return clientProgram({ path: toolPath("kubectl"), environment: { ...places, TZ: "UTC", GOGC: "off" } });
}
