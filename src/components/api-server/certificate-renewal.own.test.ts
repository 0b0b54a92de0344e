import { deepEqual, equal, notEqual } from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { X509Certificate } from "node:crypto";
import { createLogger, silentLogger } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startApiServerPart } from "./secure-serving.ts";
import { DEFAULT_API_SERVER_OPTIONS } from "../../config/api-server-config.ts";
import { servingNamesOf } from "./serving-tls.ts";
import { machineMaker } from "../../pki/certificate-issuer.ts";
import { pkiDirectory } from "../../pki/pki-directory.ts";
import { memoryPlace, openPki } from "../../pki/pki.ts";
import { startRenewal } from "../../pki/renewal.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

test("certificates are renewed 30 days before they expire, and not before", async () => {
  const clock = virtualClock();
  const pki = await openPki({ place: memoryPlace(), maker: machineMaker, servingNames: ["a"], nowMs: clock.now() });
  const first = pki.pair("apiserver").certificate;
  const renewedAt: number[] = [];
  const startedMs = clock.now();
  const onRenewed = () => void renewedAt.push(Math.floor((clock.now() - startedMs) / DAY_MS));
  const renewal = startRenewal({ renew: () => pki.renew(clock.now()), isShared: false, onRenewed, clock, log: silentLogger });

  await clock.advance(334 * DAY_MS);
  equal(pki.pair("apiserver").certificate, first);
  await clock.advance(400 * DAY_MS);
  await renewal.stop();

  deepEqual(renewedAt, [336, 672]);
  const { validTo } = new X509Certificate(pki.pair("apiserver").certificate);
  equal(Date.parse(validTo) > clock.now() + 30 * DAY_MS, true);
});

test("a failed renewal is logged and retried", async () => {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = createLogger({ sink: ({ sentence }) => void lines.push(sentence), clock, level: "info" });
  let failures = 2;
  let renewed = 0;
  const renew = () => (failures-- > 0 ? Promise.reject(new Error("no")) : Promise.resolve(true));
  const renewal = startRenewal({ renew, isShared: true, onRenewed: () => void renewed++, clock, log });

  await clock.advance(30 * 60 * 1000);
  await renewal.stop();

  deepEqual([renewed, lines], [1, ["Renewing certificates failed", "Renewing certificates failed", "Renewed certificates"]]);
});

async function ask(url: string, agent: Agent | false): Promise<TLSSocket> {
  // The certificates are of virtual time.
  const asked = request(url, { agent, rejectUnauthorized: false });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return asked.socket as TLSSocket;
}

test("a running server presents its new certificate on new connections, keeps open ones, and rewrites its kubeconfigs", async (context) => {
  const clock = virtualClock();
  const directory = await mkdtemp(join(tmpdir(), "k8ts-renewal-"));
  context.after(() => rm(directory, { recursive: true }));
  const places = { certificateDirectory: join(directory, "pki"), kubeconfig: join(directory, "kubeconfig") };
  const options = { ...DEFAULT_API_SERVER_OPTIONS, serving: { ...DEFAULT_API_SERVER_OPTIONS.serving, ...places } };
  const core = { exchange: () => Promise.resolve({ code: 200, headers: {}, body: [] }), close: () => Promise.resolve() };
  // Issued long enough ago to be due soon: every ten minutes of a year would be many files to read.
  const place = pkiDirectory(places.certificateDirectory, clock);
  const servingNames = servingNamesOf(options.serving, options.api.serviceClusterIpRange);
  await openPki({ place, maker: machineMaker, servingNames, nowMs: clock.now() - 335 * DAY_MS + HOUR_MS });
  await using part = await startApiServerPart(options, { startCore: () => Promise.resolve(core), clock, log: silentLogger });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => agent.destroy());
  const before = await ask(part.url, agent);
  const kubeconfigs = [
    places.kubeconfig,
    ...["controller-manager", "scheduler", "kube-proxy"].map((name) => join(places.certificateDirectory, "kubeconfigs", `${name}.conf`)),
  ];
  const texts = await Promise.all(kubeconfigs.map((path) => readFile(path, "utf8")));
  const { authority } = part;

  await clock.advance(2 * HOUR_MS);

  equal(await ask(part.url, agent), before, "the connection is still there");
  const after = await ask(part.url, false);
  notEqual(after.getPeerX509Certificate()?.serialNumber, before.getPeerX509Certificate()?.serialNumber);
  const written = await Promise.all(kubeconfigs.map((path) => readFile(path, "utf8")));
  for (const [index, text] of written.entries()) notEqual(text, texts[index]);
  equal(part.authority, authority);
});
