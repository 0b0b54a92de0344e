/** Both event streams of a runtime, on a real containerd, which has the CRI's from 1.7 on. */
import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { realClock } from "../../../host/real-clock.ts";
import { needs } from "../../../testing/needs.ts";
import { openCriClient } from "./cri-client.ts";
import { openEventStream } from "./event-stream.ts";
import { sharedMachine, started } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";

const machine = sharedMachine();
/** An event that never comes fails the test. */
const options = { ...needs("containerd", "cni", "busybox"), timeout: 120_000 };

describe("the exit of a container is reported", () => {
  for (const { it, runtimeName, isMissingIn } of [
    { it: "by containerd's own events", runtimeName: "containerd", isMissingIn: /never/ },
    { it: "by the CRI's events, where supported", runtimeName: "another", isMissingIn: /^containerd:\/\/1\.6\./ },
  ]) {
    test(it, options, async () => {
      const { open, image, containerd } = await machine();
      await using runtime = await open();
      using client = await openCriClient(containerd.endpoint, realClock);
      const ended = new Set<string>();
      let look = (): void => undefined;
      let isAbsent = false;
      const close = openEventStream(client, runtimeName, {
        event({ is, id }) {
          if (is === "ended") ended.add(id);
          look();
        },
        ended(isWithout) {
          isAbsent = isWithout;
          look();
        },
      });

      const id = await started(runtime, shellPod("web", image, PROGRAMS.waits));
      equal(ended.has(id), false);
      await runtime.stopContainer(id, 10_000);
      while (!ended.has(id) && !isAbsent) await new Promise<void>((resolve) => (look = resolve));

      equal(isAbsent, isMissingIn.test(runtime.version));
      close();
    });
  }
});
