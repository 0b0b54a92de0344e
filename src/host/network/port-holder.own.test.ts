import { equal, match } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { addressPortHolder, portHolder } from "./port-holder.ts";

test(
  "the process that listens on a port is found, and none for a free port",
  { skip: process.platform !== "linux" && "needs /proc" },
  async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;

    const holder = portHolder(port);
    equal(holder?.pid, process.pid);
    match(holder?.command ?? "", /node/);

    server.close();
    await once(server, "close");
    equal(portHolder(port), undefined);
  },
);

test(
  "the holder of a port of an address is bound to it or to all addresses",
  { skip: process.platform !== "linux" && "needs /proc" },
  async () => {
    const [one, all] = [createServer().listen(0, "127.0.0.1"), createServer().listen(0, "0.0.0.0")];
    await Promise.all([once(one, "listening"), once(all, "listening")]);
    const portOf = (server: typeof one): number => (server.address() as AddressInfo).port;

    equal(addressPortHolder("127.0.0.1", portOf(one), "TCP")?.pid, process.pid);
    equal(addressPortHolder("127.0.0.2", portOf(one), "TCP"), undefined);
    equal(addressPortHolder("127.0.0.2", portOf(all), "TCP")?.pid, process.pid);

    for (const server of [one, all]) server.close();
  },
);
