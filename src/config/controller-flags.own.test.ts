import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testAuthority } from "../testing/fixtures/certificates.ts";
import {
  chosenControllers,
  chosenControllersProblems,
  controllerFlags,
  controllerFlagWarnings,
  readControllerSettings,
  signingProblems,
  type ControllerFlagValues,
} from "./controller-flags.ts";
import { parseArguments } from "../cli/framework/flags.ts";
import { DEFAULT_SETTINGS } from "../controllers/horizontal-pod-autoscaler/settings.ts";

function valuesOf(...words: readonly string[]): ControllerFlagValues {
  const { values, problems } = parseArguments({ flags: controllerFlags, arguments: {} }, words);
  deepEqual(problems, []);
  return values;
}

test("nothing is signed without a CA, which is a certificate and its key", async () => {
  deepEqual(signingProblems(valuesOf()), []);
  deepEqual(signingProblems(valuesOf("--cluster-signing-cert-file=a", "--cluster-signing-key-file=b")), []);
  deepEqual(signingProblems(valuesOf("--cluster-signing-cert-file=a")), [
    "--cluster-signing-cert-file requires --cluster-signing-key-file",
  ]);
  deepEqual(signingProblems(valuesOf("--cluster-signing-key-file=a")), ["--cluster-signing-key-file requires --cluster-signing-cert-file"]);
  equal((await readControllerSettings(valuesOf(), "")).signing, undefined);
});

test("the CA and the lifetime of its certificates are read", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-signing-"));
  after(() => rm(directory, { recursive: true }));
  const [certificate, key] = [join(directory, "ca.crt"), join(directory, "ca.key")];
  const authority = testAuthority("ca");
  await writeFile(certificate, authority.certificate);
  await writeFile(key, authority.key);
  const files = [`--cluster-signing-cert-file=${certificate}`, `--cluster-signing-key-file=${key}`];

  const { signing } = await readControllerSettings(valuesOf(...files, "--cluster-signing-duration=1h"), "");

  deepEqual([signing?.certificate, signing?.signer.algorithm, signing?.durationMs], [authority.certificate, "ES256", 3_600_000]);
  const { signing: byDefault } = await readControllerSettings(valuesOf(...files), "");
  equal(byDefault?.durationMs, 365 * 24 * 3_600_000);
});

test("all controllers run by default, and every unknown name is reported", () => {
  deepEqual(chosenControllers(valuesOf()), ["*"]);
  deepEqual(chosenControllers(valuesOf("--controllers=*,-deployment", "--controllers=bootstrap-signer-controller")), [
    "*",
    "-deployment",
    "bootstrap-signer-controller",
  ]);
  deepEqual(chosenControllersProblems(valuesOf("--controllers=deployment,namespace-controller")), []);
  const problems = chosenControllersProblems(valuesOf("--controllers=frob,-brof,deployment"));
  deepEqual(
    problems.map((problem) => problem.replace(/known controllers: .*/, "known controllers")),
    ['--controllers: "frob" is not in the list of known controllers', '--controllers: "-brof" is not in the list of known controllers'],
  );
});

test("settings are read from flags, and the certificate of the API server from a file or the kubeconfig", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-root-ca-"));
  after(() => rm(directory, { recursive: true }));
  const file = join(directory, "ca.crt");
  const { certificate } = testAuthority("ca");
  await writeFile(file, certificate);

  equal((await readControllerSettings(valuesOf(), "of the kubeconfig")).rootCa, "of the kubeconfig");
  equal((await readControllerSettings(valuesOf(`--root-ca-file=${file}`), "of the kubeconfig")).rootCa, certificate);
  await rejects(readControllerSettings(valuesOf(`--root-ca-file=${directory}/none`), ""), /--root-ca-file/);
  const words = ["--node-monitor-grace-period=1m", "--terminated-pod-gc-threshold=0", "--max-endpoints-per-slice=7"];
  const cleaner = "--legacy-service-account-token-clean-up-period=48h";
  const autoscaler = ["--horizontal-pod-autoscaler-sync-period=5s", "--horizontal-pod-autoscaler-tolerance=.2"];
  const detach = "--disable-force-detach-on-timeout";
  const gate = "--feature-gates=PersistentVolumeClaimUnusedSinceTime=true";
  deepEqual(await readControllerSettings(valuesOf(...words, cleaner, detach, gate, ...autoscaler), ""), {
    rootCa: "",
    maxEndpointsPerSlice: 7,
    nodeLifecycle: { nodeMonitorGracePeriodMs: 60_000 },
    horizontalPodAutoscaler: { ...DEFAULT_SETTINGS, syncPeriodMs: 5_000, tolerance: 0.2 },
    legacyTokenCleaner: { cleanUpPeriodMs: 48 * 3_600_000 },
    claimProtection: { reportsUnused: true },
    attachDetach: { disableForceDetachOnTimeout: true },
    podGarbageCollector: { terminatedPodThreshold: 0 },
  });
});

for (const [period, isShort] of [
  ["20s", true],
  ["39999ms", true],
  ["40s", false],
  ["1m", false],
] as const) {
  test(`--node-monitor-grace-period=${period} ${isShort ? "warns with the lease of a kubelet" : "is long enough"}`, () => {
    const warnings = controllerFlagWarnings(valuesOf(`--node-monitor-grace-period=${period}`));
    equal(warnings.length, isShort ? 1 : 0);
    for (const warning of warnings)
      match(
        warning,
        new RegExp(
          `^--node-monitor-grace-period is ${period}, shorter than the duration of a kubelet's Lease, 40s \\(renewed every 10s\\)`,
        ),
      );
  });
}

test("all values that are out of range are reported at once", () => {
  const words = ["--max-endpoints-per-slice=0", "--cluster-signing-duration=never", "--node-monitor-grace-period=0s"];
  deepEqual(parseArguments({ flags: controllerFlags, arguments: {} }, words).problems, [
    '--max-endpoints-per-slice must be an integer from 1 to 1000, is "0"',
    '--cluster-signing-duration must be a duration such as "15s" or "1m30s", is "never"',
    '--node-monitor-grace-period must be a duration such as "15s" or "1m30s", is "0s"',
  ]);
});
