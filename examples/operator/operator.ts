/**
 * The program: `node out/operator.js` runs the operator until a signal comes, `node out/operator.js rbac` prints what it must be allowed.
 * It finds the cluster as kubectl does; in a Pod it is its service account. Several may run: one acts, the others stand by.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { createLogger, formatHuman, httpsTransport, loadKubeconfig, realClock, stderrLogSink } from "k8ts/client";
import { startOperator } from "k8ts/controllers";
import { rbac } from "./rbac.ts";
import { websiteController } from "./website-controller.ts";

async function run(): Promise<void> {
  const log = createLogger({ sink: stderrLogSink(formatHuman), clock: realClock, level: "info" });
  const connection = await loadKubeconfig({ environment: process.env, homeDirectory: homedir(), readFile });
  await using transport = httpsTransport(connection, { clock: realClock, log, userAgent: "website-operator" });
  await using operator = startOperator({
    controllers: [websiteController],
    transport,
    election: {
      lease: { namespace: connection.namespace, name: "website-operator" },
      identity: `${hostname()}_${randomUUID()}`,
    },
    log,
    // A pass that ignores its signal ends with the process only; the log says which it was, and another replica leads.
    onStuck: () => process.exit(1),
  });
  void operator.started.then(() => log.info("Acting", { server: connection.server }));
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  await once(stopping.signal, "abort");
  log.info("Stopping");
  // Leaving this function ends the passes that run, gives the lease back and closes the connections, in this order.
}

if (process.argv[2] === "rbac") console.log(JSON.stringify(rbac({ namespace: process.argv[3] ?? "default" }), null, 2));
else await run();
