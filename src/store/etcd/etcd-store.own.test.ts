import { needs } from "../../testing/needs.ts";
import { startEtcd } from "../../testing/etcd-server.ts";
import { realClock } from "../../host/real-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { silentLogger } from "../../base/logger.ts";
import { storeSuite } from "../testing/store-suite.ts";
import { openEtcdStore } from "./etcd-store.ts";

storeSuite({
  name: "etcd",
  ...needs("etcd"),
  async open() {
    const server = await startEtcd();
    const store = await openEtcdStore({ endpoints: server.endpoints, clock: realClock, random: seededRandom(1), log: silentLogger });
    return { store, close: () => server[Symbol.asyncDispose]() };
  },
});
