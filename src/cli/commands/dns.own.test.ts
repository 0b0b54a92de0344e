import { equal, match, rejects } from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../dns/testing/dns-client.ts";
import { becomes } from "../../testing/becomes.ts";
import { startTestApiServer } from "../../testing/servers/api-server.ts";
import { RunningCommand } from "../../testing/servers/running-command.ts";
import { dns } from "./dns.ts";

test("`k8ts dns` answers names of a cluster over HTTPS, in its own domain, with the enabled plugins", async () => {
  await using server = await startTestApiServer();
  const words = [
    `--kubeconfig=${server.kubeconfig}`,
    "--listen=127.0.0.1:0",
    "--metrics-address=127.0.0.1:0",
    "--cluster-domain=example.test",
  ];
  const command = new RunningCommand(dns, ...words, "--dns-plugins=kubernetes,health");
  const said = await command.says("answering names of example.test on 127.0.0.1:");
  match(said, /^\d+ \(health, kubernetes\)$/);
  const peer = { address: "127.0.0.1", port: Number.parseInt(said, 10) };
  const url = await command.says("serving metrics on ");
  await becomes(async () => (await fetch(`${url}/ready`)).status, 200);
  const name = "kubernetes.default.svc.example.test";
  equal(await ask(peer, name), `NOERROR ${name} 5 A 10.96.0.1`);
  equal(await ask(peer, "www.example.com"), "REFUSED");
  await command.stop();
});

test("`k8ts dns` rejects unknown plugins and upstreams that are not addresses", () => {
  const parsed = dns.parse(["--dns-plugins=kubernetes,magic", "--dns-upstreams=example.com"], {});
  equal(parsed.ok, false);
  match(parsed.ok ? "" : parsed.problems.join("\n"), /--dns-plugins.*one of errors, metrics[\s\S]*--dns-upstreams.*an address such as/);
});

test("`k8ts dns` ends with the reason if its port or that of its metrics is in use", async () => {
  await using server = await startTestApiServer();
  await using taken = await startDnsOf(server.kubeconfig, "--listen=127.0.0.1:0", "--metrics-address=127.0.0.1:0");
  const [, port = ""] = /:(\d+) /.exec(await taken.command.says("answering names of cluster.local on ")) ?? [];
  const metrics = new URL(await taken.command.says("serving metrics on ")).port;
  for (const [flag, used] of [
    ["--listen", port],
    ["--metrics-address", metrics],
  ] as const) {
    const words = flag === "--listen" ? [] : ["--listen=127.0.0.1:0"];
    const second = new RunningCommand(dns, `--kubeconfig=${server.kubeconfig}`, ...words, `${flag}=127.0.0.1:${used}`);
    const message = `Cannot listen on 127\\.0\\.0\\.1:${used}: .* already listens there; stop it, or choose another port with ${flag} HOST:PORT`;
    await rejects(second.ended, new RegExp(message));
  }
});

async function startDnsOf(kubeconfig: string, ...words: readonly string[]) {
  const command = new RunningCommand(dns, `--kubeconfig=${kubeconfig}`, ...words);
  return { command, [Symbol.asyncDispose]: () => command.stop() };
}
