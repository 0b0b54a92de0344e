/**
 * Commits per second through the etcd driver, on a real etcd on this machine. Baseline: the same transactions over bare gRPC. etcd stores
 * its files in the system's directory for temporary files, independent of --directory.
 */
import { Disposables } from "../../src/base/disposables.ts";
import { startEtcd } from "../../src/testing/servers/etcd-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { EtcdSubject, EtcdTasks } from "./etcd-child.ts";

const WRITERS = 64;
const ROUND_MS = 600;

export const storeEtcd: Benchmark = {
  name: "store/etcd",
  measures: "commits per second of the etcd driver with 64 in flight, on a real etcd; baseline: bare gRPC",
  async *run({ rounds, signal, note }) {
    const { skip } = needs("etcd");
    if (skip !== false) return note(skip);
    await using started = new Disposables();
    const etcd = started.use(await startEtcd());
    const start = async (subject: EtcdSubject) => {
      const child = started.use(startChild<EtcdTasks>(import.meta.url, "etcd-child", signal));
      await child.call("open", { subject, port: etcd.ports[0] as number });
      return () => child.call("load", { writers: WRITERS, durationMs: ROUND_MS });
    };
    const { driver, grpc } = await rounds.measure({ driver: await start("driver"), grpc: await start("grpc") });
    yield figureOf({
      name: `store/etcd-${WRITERS}-writers-beside-grpc`,
      unit: "commits/s",
      values: driver.map(({ perSecond }) => perSecond),
      baselines: grpc.map(({ perSecond }) => perSecond),
    });
  },
};
