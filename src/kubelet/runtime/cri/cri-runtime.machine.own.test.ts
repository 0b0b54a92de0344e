import { needs } from "../../../testing/needs.ts";
import { runtimeSuite } from "../../testing/runtime-suite.ts";
import { sharedMachine } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";

const machine = sharedMachine();

runtimeSuite({
  name: "cri",
  ...needs("containerd", "cni", "busybox"),
  async open() {
    const { image, open } = await machine();
    return {
      runtime: await open(),
      pod: (name, program) => shellPod(name, image, PROGRAMS[program]),
      passing: (promise) => promise,
    };
  },
});
