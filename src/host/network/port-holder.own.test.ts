import { equal, match } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { portHolder } from "./port-holder.ts";

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
