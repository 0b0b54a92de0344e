/**
 * The program: `node out/operator.js` runs the operator until SIGINT or SIGTERM, `node out/operator.js rbac` prints its RBAC objects.
 * It locates the cluster as kubectl does; in a Pod it uses the service account. With several replicas, the leader acts and the others stand by.
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
    // A pass that ignores its abort signal ends only with the process. The log names it, and another replica becomes leader.
    onStuck: () => process.exit(1),
  });
  void operator.started.then(() => log.info("Acting", { server: connection.server }));
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  await once(stopping.signal, "abort");
  log.info("Stopping");
  // Leaving this function ends the running passes, releases the lease and closes the connections, in this order.
}

if (process.argv[2] === "rbac") console.log(JSON.stringify(rbac({ namespace: process.argv[3] ?? "default" }), null, 2));
else await run();
