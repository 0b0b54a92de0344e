/**
 * The program: `node out/operator.js` installs the kind and the webhooks into the cluster of the current kubeconfig context and runs until
 * SIGINT or SIGTERM. It runs beside the API server, which reaches its webhooks by URL. `node out/operator.js role` prints its ClusterRole.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { setTimeout } from "node:timers/promises";
import { createClient, createLogger, formatHuman, httpsTransport, loadKubeconfig, realClock, stderrLogSink } from "k8ts/client";
import { startOperator } from "k8ts/controllers";
import { databaseController } from "./database-controller.ts";
import { install } from "./install.ts";
import { clusterRole, manifests } from "./manifests.ts";
import { startWebhooks } from "./webhooks.ts";

/** The API server publishes a new kind within a tenth of a second. */
const POLL_MS = 50;

async function run(): Promise<void> {
  const log = createLogger({ sink: stderrLogSink(formatHuman), clock: realClock, level: "info" });
  const connection = await loadKubeconfig({ environment: process.env, homeDirectory: homedir(), readFile });
  await using transport = httpsTransport(connection, { clock: realClock, log, userAgent: "database-operator" });
  await using webhooks = await startWebhooks();
  await install(createClient(transport), manifests(webhooks), () => setTimeout(POLL_MS));
  await using operator = startOperator({
    controllers: [databaseController],
    transport,
    election: { lease: { namespace: connection.namespace, name: "database-operator" }, identity: `${hostname()}_${randomUUID()}` },
    log,
    onStuck: () => process.exit(1),
  });
  void operator.started.then(() => log.info("Acting", { server: connection.server, webhooks: webhooks.url }));
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  await once(stopping.signal, "abort");
  log.info("Stopping");
}

if (process.argv[2] === "role") console.log(JSON.stringify(clusterRole(), null, 2));
else await run();
