/**
 * Translates the arguments that controller-runtime's envtest passes to kube-apiserver into flags of `k8ts apiserver`. Flags without a
 * meaning here are returned as ignored, so that a suite that sets one still starts. Pure.
 */
import { isFeatureGate } from "../../../api/feature-gates.ts";
import type { FlagSet } from "../../framework/flags.ts";

export interface ServerArguments {
  /** Flags that `k8ts apiserver` knows. Not among them: the store, and files that envtest keeps in --cert-dir. */
  readonly flags: readonly string[];
  /** Of etcd, by its flags: --etcd-servers and others. */
  readonly etcdFlags: readonly string[];
  readonly etcdServers: readonly string[];
  /** Where envtest has written the serving certificate. */
  readonly certificateDirectory: string | undefined;
  /** Names of flags without a meaning here. */
  readonly ignored: readonly string[];
}

/** Passed by every envtest, and without a meaning here. */
const EXPECTED: ReadonlySet<string> = new Set(["allow-privileged", "insecure-port", "insecure-bind-address"]);

export function serverArguments(argv: readonly string[], known: FlagSet): ServerArguments {
  const flags: string[] = [];
  const etcdFlags: string[] = [];
  const etcdServers: string[] = [];
  const ignored: string[] = [];
  let certificateDirectory: string | undefined;
  for (const { name, value } of flagsOf(argv, known)) {
    const word = value === undefined ? `--${name}` : `--${name}=${value}`;
    if (name === "cert-dir") certificateDirectory = value;
    else if (name === "etcd-servers") etcdServers.push(...(value ?? "").split(","));
    else if (name.startsWith("etcd-") && Object.hasOwn(known, name)) etcdFlags.push(word);
    // A loopback address cannot be published to Pods, and envtest runs no Pods.
    else if (name === "advertise-address" && /^(?:127\.|::1$)/.test(value ?? "")) continue;
    else if (name === "feature-gates") {
      // A suite may set any gate of upstream's.
      const gates = (value ?? "").split(",");
      const own = gates.filter((gate) => isFeatureGate(gate.split("=")[0] ?? ""));
      if (own.length > 0) flags.push(`--${name}=${own.join(",")}`);
      if (own.length < gates.length) ignored.push(name);
    } else if (Object.hasOwn(known, name) && name !== "store" && name !== "data-dir") flags.push(word);
    else if (!EXPECTED.has(name)) ignored.push(name);
  }
  return { flags, etcdFlags, etcdServers, certificateDirectory, ignored };
}

interface GivenFlag {
  readonly name: string;
  readonly value: string | undefined;
}

/** "--name=value", "--name value" and "--switch", as Go's parser. */
function* flagsOf(argv: readonly string[], known: FlagSet): Iterable<GivenFlag> {
  for (let index = 0; index < argv.length; index++) {
    const [, name, , value] = /^--?([^=]+)(=([^]*))?$/.exec(argv[index] ?? "") ?? [];
    if (name === undefined) continue;
    const next = argv[index + 1];
    const isSwitch = Object.hasOwn(known, name) && known[name]?.type === "boolean";
    if (value !== undefined || isSwitch || next === undefined || next.startsWith("-")) yield { name, value };
    else {
      index++;
      yield { name, value: next };
    }
  }
}
