/** One subject of etcd.ts in its own process. */
import { silentLogger } from "../../src/base/logger.ts";
import { decode, encode } from "../../src/base/protobuf/messages.ts";
import { openGrpcChannel } from "../../src/host/grpc/channel.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { COMPARE_EQUAL, TARGET_CREATE_REVISION, TXN } from "../../src/store/etcd/etcd-messages.ts";
import { openEtcdStore } from "../../src/store/etcd/etcd-store.ts";
import { collectGarbage, serve } from "../serve.ts";
import { createIn, loadOf, type Create, type LoadOptions, type LoadResult } from "./load.ts";

export type EtcdSubject = "driver" | "grpc";

/** Far longer than a transaction takes on a busy machine. */
const TIMEOUT_MS = 10_000;

let load: ((options: LoadOptions) => Promise<LoadResult>) | undefined;

const tasks = {
  async open({ subject, port }: { readonly subject: EtcdSubject; readonly port: number }): Promise<void> {
    load = loadOf(await (subject === "driver" ? openDriver(port) : openBareGrpc(port)));
  },

  async load(options: LoadOptions): Promise<LoadResult> {
    if (load === undefined) throw new Error("Cannot load etcd: no subject is open");
    collectGarbage();
    return load(options);
  },
};
export type EtcdTasks = typeof tasks;
serve(tasks);

async function openDriver(port: number): Promise<Create> {
  const endpoints = [`http://127.0.0.1:${port}`];
  return createIn(await openEtcdStore({ endpoints, clock: realClock, random: realRandom(), log: silentLogger }));
}

/** The same transaction without the driver: no checks, retries or failover. */
async function openBareGrpc(port: number): Promise<Create> {
  const channel = await openGrpcChannel({ host: "127.0.0.1", port, clock: realClock });
  return async (key, value) => {
    const there = Buffer.from(`/bare${key}`);
    const request = encode(TXN.request, {
      compare: [{ key: there, target: TARGET_CREATE_REVISION, result: COMPARE_EQUAL, createRevision: 0 }],
      success: [{ put: { key: there, value } }],
      failure: [{ range: { key: there } }],
    });
    const response = decode(TXN.response, await channel.call(TXN.path, request, { timeoutMs: TIMEOUT_MS }));
    if (!response.succeeded) throw new Error(`Cannot create ${key}: it already exists`);
  };
}
