/** A cluster behind HTTPS as seen through a kubeconfig: a client, informers, and waiting for conditions on their state. */
import { readFile } from "node:fs/promises";
import type { KubeObject } from "../../api/machinery/object.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Client } from "../../client/client.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { loadKubeconfig } from "../../client/kubeconfig/load-kubeconfig.ts";
import type { Informer, Informers } from "../../client/informer/informer.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";

export interface ObservedCluster extends AsyncDisposable {
  readonly client: Client;
  readonly informers: Informers;
}

export async function observeCluster(kubeconfig: string): Promise<ObservedCluster> {
  await using starting = new Disposables();
  const connection = await loadKubeconfig({ path: kubeconfig, environment: {}, homeDirectory: "/none", readFile });
  const transport = starting.use(httpsTransport(connection, { clock: realClock, log: silentLogger, userAgent: "test" }));
  const informers = starting.use(createInformers({ transport, clock: realClock, random: realRandom(), log: silentLogger }));
  const owned = starting.move();
  return { client: createClient(transport), informers, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

/** Checks now and after every change. */
export async function until<T extends KubeObject>(informer: Informer<T>, holds: () => boolean): Promise<void> {
  if (holds()) return;
  let onHolds = (): void => undefined;
  const reached = new Promise<void>((resolve) => (onHolds = resolve));
  let isReplay = true;
  const look = (): void => void (!isReplay && holds() && onHolds());
  using _listening = informer.listen({ added: look, updated: look, deleted: look });
  isReplay = false;
  if (holds()) return;
  await reached;
}
