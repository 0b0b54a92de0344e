import unittest

from control import Rejected, TestControl

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
PODS = "/api/v1/namespaces/default/pods"


def web(replicas):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


class WebTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.control = TestControl()
        cls.control.reset()
        cls.control.kube("POST", DEPLOYMENTS, web(2))
        cls.control.advance("10s")
        cls.control.snapshot("python-web")

    def setUp(self):
        self.control.reset("python-web")

    def pods(self):
        return self.control.kube("GET", PODS)["items"]

    def test_the_deployment_is_available(self):
        status = self.control.kube("GET", f"{DEPLOYMENTS}/web")["status"]
        self.assertEqual(status["availableReplicas"], 2)

    def test_one_test_deletes_the_deployment(self):
        self.control.kube("DELETE", f"{DEPLOYMENTS}/web")
        self.control.advance("1m")
        self.assertEqual(self.pods(), [])

    def test_another_test_still_has_its_pods(self):
        self.assertEqual(len(self.pods()), 2)

    def test_pods_of_a_lost_node_are_replaced_after_five_minutes(self):
        lost = self.pods()[0]["spec"]["nodeName"]
        self.control.cut_off(lost)
        self.control.advance("7m")
        elsewhere = [pod for pod in self.pods() if pod["spec"]["nodeName"] != lost and pod["status"]["phase"] == "Running"]
        self.assertEqual(len(elsewhere), 2)

    def test_a_conflict_is_injected_once(self):
        fault = {"match": {"verb": "update", "resource": "deployments"}, "status": {"code": 409}, "times": 1}
        self.control.add_fault(**fault)
        deployment = self.control.kube("GET", f"{DEPLOYMENTS}/web")
        deployment["spec"]["replicas"] = 3
        with self.assertRaises(Rejected) as rejected:
            self.control.kube("PUT", f"{DEPLOYMENTS}/web", deployment)
        self.assertEqual(rejected.exception.code, 409)
        self.control.kube("PUT", f"{DEPLOYMENTS}/web", deployment)
        self.control.advance("10s")
        self.assertEqual(len(self.pods()), 3)


if __name__ == "__main__":
    unittest.main()
