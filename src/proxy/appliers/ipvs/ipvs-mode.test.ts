import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLogger } from "../../../base/logger.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { UnsupportedModeError, type ApplierContext } from "../applier.ts";
import { ipvs } from "./ipvs-mode.ts";

/** A machine with these answers; other commands succeed without output. Records each command with the first line of its input. */
function machine(answers: Readonly<Record<string, string | Error>>): { readonly ran: string[]; readonly namespace: NetworkNamespace } {
  const ran: string[] = [];
  const run = (command: string, words: readonly string[], input?: string) => {
    const shown = [command, ...words].join(" ");
    ran.push(input === undefined ? shown : `${shown}: ${input.trimEnd().split("\n").join("; ")}`);
    const answer = Object.entries(answers).find(([start]) => shown.startsWith(start))?.[1] ?? "";
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { ran, namespace: { name: "test", run } };
}

const FAILED = new CommandError("it exited with code 1", { exitCode: 1 });
const MISSING = new CommandError("not found", { isMissing: true });

function contextOf(namespace: NetworkNamespace, ipvsScheduler = "rr"): ApplierContext {
  const clock = virtualClock();
  const log = createLogger({ sink: () => {}, clock, level: "error" });
  return { owner: "k8ts1", namespace, options: { masqueradesAll: false, ipvsScheduler }, clock, log };
}

describe("a machine that cannot run the mode ipvs", () => {
  for (const [title, answers, scheduler, message] of [
    [
      "without the kernel module",
      { test: FAILED, modprobe: MISSING },
      "rr",
      `Cannot use the proxy mode ipvs: this kernel has no module ip_vs; load it with "modprobe ip_vs", or use the mode iptables`,
    ],
    [
      "without ipvsadm",
      { ipvsadm: MISSING },
      "rr",
      "Cannot use the proxy mode ipvs: the program ipvsadm is not installed; install the package ipvsadm, or use the mode iptables",
    ],
    [
      "with an unknown scheduler",
      {},
      "fastest",
      `Cannot use the proxy mode ipvs: the scheduler "fastest" is not one of rr, lc, dh, sh, sed, nq, wrr, wlc, lblc, lblcr, mh, ovf, fo; set --ipvs-scheduler, or use the mode iptables`,
    ],
  ] as const) {
    it(title, async () => {
      await assert.rejects(ipvs.open(contextOf(machine(answers).namespace, scheduler)), (error) => {
        assert.ok(error instanceof UnsupportedModeError);
        assert.equal(error.message, message);
        return true;
      });
    });
  }

  it("has nothing to clean up", async () => {
    const { ran, namespace } = machine({ test: FAILED, modprobe: MISSING });
    await ipvs.cleanUp(contextOf(namespace));
    assert.deepEqual(
      ran.filter((line) => !/^(test|modprobe)/.test(line)),
      [],
    );
  });
});

describe("the mode ipvs", () => {
  const WEB = aServicePort({ endpoints: ["10.244.0.5:8080"] });

  it("adopts its servers, removes stale ones of its addresses, and leaves those of others", async () => {
    const saved = ["-A -t 10.96.0.10:80 -s rr", "-a -t 10.96.0.10:80 -r 10.244.0.9:8080 -m -w 1", "-A -t 203.0.113.1:80 -s wlc", ""];
    const { ran, namespace } = machine({
      "ipvsadm -S": saved.join("\n"),
      "ip -4 -oneline": "7: k8ts1-ipvs    inet 10.96.0.10/32 scope global k8ts1-ipvs\n",
    });
    const applier = await ipvs.open(contextOf(namespace));
    await applier.apply(aModel([WEB]));

    assert.deepEqual(
      ran.filter((line) => /^(ipvsadm -R|ip -force)/.test(line)),
      ["ipvsadm -R: -a -t 10.96.0.10:80 -r 10.244.0.5:8080 -m -w 1; -d -t 10.96.0.10:80 -r 10.244.0.9:8080"],
    );
  });

  it("a restarted proxy removes its stale servers at the node's addresses, which a set records, and those of no other", async () => {
    const saved = [
      "-A -t 192.0.2.1:30080 -s rr",
      "-A -u 192.0.2.1:30053 -s rr",
      "-A --sctp-service 192.0.2.1:80 -s rr",
      "-A -t 192.0.2.1:22 -s wlc",
      "",
    ];
    const record = ["192.0.2.1,tcp:30080", "192.0.2.1,udp:30053", "192.0.2.1,sctp:80"];
    const { ran, namespace } = machine({
      "ipvsadm -S": saved.join("\n"),
      "ipset save k8ts1-ipvs-srv-4": `create k8ts1-ipvs-srv-4 hash:ip,port\n${record.map((one) => `add k8ts1-ipvs-srv-4 ${one}\n`).join("")}`,
    });
    const applier = await ipvs.open(contextOf(namespace));
    const port = aServicePort({ nodePort: 30_080, clusterIp: "10.96.0.10" });
    await applier.apply(aModel([port], { nodeIps: ["192.0.2.1"] }));

    const written = ran.filter((line) => /^(ipvsadm -R|ipset restore: del)/.test(line));
    assert.deepEqual(written, [
      "ipvsadm -R: -A -t 10.96.0.10:80 -s rr; -D -u 192.0.2.1:30053; -D --sctp-service 192.0.2.1:80",
      "ipset restore: del k8ts1-ipvs-srv-4 192.0.2.1,udp:30053 -exist; del k8ts1-ipvs-srv-4 192.0.2.1,sctp:80 -exist",
    ]);
  });

  it("a host without IPv6 needs no rules of it", async () => {
    const { ran, namespace } = machine({ "ip6tables-restore": FAILED });
    const applier = await ipvs.open(contextOf(namespace));
    ran.length = 0;
    await applier.apply(aModel([WEB]));
    assert.deepEqual(
      ran.filter((line) => /ip6tables|inet6|ip -6/.test(line)),
      [],
    );
  });

  it("a thorough check notices a missing address and a missing set entry", async () => {
    const answers = {
      "ipvsadm -S": "-A -t 10.96.0.10:80 -s rr\n-a -t 10.96.0.10:80 -r 10.244.0.5:8080 -m -w 1\n",
      "ip -4": "7: k8ts1-ipvs    inet 10.96.0.10/32 scope global k8ts1-ipvs\n",
      "ipset save k8ts1-ipvs-cip-4": "add k8ts1-ipvs-cip-4 10.96.0.10,tcp:80\n",
    };
    const { namespace } = machine(answers);
    const applier = await ipvs.open(contextOf(namespace));
    for (const missing of ["ip -4", "ipset save k8ts1-ipvs-cip-4"] as const) {
      const before = answers[missing];
      await applier.apply(aModel([WEB]));
      assert.equal(await applier.isIntact("thorough"), true, missing);
      answers[missing] = "";
      assert.equal(await applier.isIntact("quick"), true, missing);
      assert.equal(await applier.isIntact("thorough"), false, missing);
      answers[missing] = before;
    }
  });

  it("writes nothing for an equal model, and only what changes otherwise", async () => {
    const { ran, namespace } = machine({});
    const applier = await ipvs.open(contextOf(namespace));
    const model = aModel([WEB]);
    await applier.apply(model);
    ran.length = 0;

    assert.deepEqual(await applier.apply(model), { written: 0 });
    assert.deepEqual(ran, []);
    const port = aServicePort({ endpoints: ["10.244.0.5:8080", "10.244.0.6:8080"] });
    assert.deepEqual(await applier.apply({ ...model, servicePorts: new Map([[port.key, port]]) }), { written: 1 });
    assert.deepEqual(ran, ["ipvsadm -R: -a -t 10.96.0.10:80 -r 10.244.0.6:8080 -m -w 1"]);
  });

  it("notices removed servers and writes everything again", async () => {
    const answers = { "ipvsadm -S": "-A -t 10.96.0.10:80 -s rr\n-a -t 10.96.0.10:80 -r 10.244.0.5:8080 -m -w 1\n" };
    const { ran, namespace } = machine(answers);
    const applier = await ipvs.open(contextOf(namespace));
    await applier.apply(aModel([WEB]));
    assert.equal(await applier.isIntact("quick"), true);

    answers["ipvsadm -S"] = "";
    assert.equal(await applier.isIntact("quick"), false);
    ran.length = 0;
    await applier.apply(aModel([WEB]));
    assert.deepEqual(
      ran.filter((line) => line.startsWith("ipvsadm -R")),
      ["ipvsadm -R: -A -t 10.96.0.10:80 -s rr; -a -t 10.96.0.10:80 -r 10.244.0.5:8080 -m -w 1"],
    );
  });
});
