#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A real program does under the preload object what it does without.

    same.py PROGRAM

PROGRAM names one of the functions below, which returns what the program said.
"""

import os
import shutil
import subprocess
import sys
import tempfile

OURS = os.environ["LD_PRELOAD"]
PLAIN = {name: value for name, value in os.environ.items()
         if name not in ("LD_PRELOAD", "MALLOC_PERTURB_")}


class Missing(Exception):
    pass


def run(command, environment, text=None):
    if not shutil.which(command[0]):
        raise Missing("there is no " + command[0] + " here")
    done = subprocess.run(command, env=environment, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    return done.returncode, done.stdout


def python3(environment):
    return run([sys.executable, "-c", """
import json, multiprocessing, subprocess, threading
print(subprocess.run(["echo", "a child"], capture_output=True).stdout)
print(sum(len(json.dumps({"list": list(range(i))})) for i in range(500)))
threads = [threading.Thread(target=bytearray, args=(1 << 20,)) for _ in range(50)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
pool = multiprocessing.get_context("fork").Pool(2)
print(pool.map(abs, range(-5, 5)))
pool.close()
pool.join()
"""], environment)


def sqlite3(environment):
    return run(["sqlite3", ":memory:"], environment, """
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000)
insert into t select x, hex(x * x) from c;
create index i on t(b);
select count(*), sum(a), max(b) from t;
select b from t order by b desc limit 3;
""")


def bash(environment):
    return run(["bash", "-c", """
for i in $(seq 200); do x=$(echo $i | tr 1 2); s=$s$x; done
echo $s | md5sum
ls / | sort
coproc cat; echo to >&${COPROC[1]}; read -u ${COPROC[0]} line; echo $line
"""], environment)


def git(environment):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(environment, HOME=folder, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a",
                           GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a",
                           GIT_AUTHOR_DATE="1 +0000", GIT_COMMITTER_DATE="1 +0000")
        commands = [["git", "init", "--quiet", "-b", "main", folder]]
        for number in range(10):
            commands.append(["git", "-C", folder, "commit", "--quiet", "--allow-empty",
                             "-m", "number %d" % number])
        commands.append(["git", "-C", folder, "gc", "--quiet"])
        commands.append(["git", "-C", folder, "log", "--stat"])
        return [run(command, environment) for command in commands]


def node(environment):
    return run(["node", "-e", """
const list = [];
for (let i = 0; i < 200000; i++) list.push({ i, s: "x" + i });
console.log(JSON.stringify(list).length);
console.log(require("child_process").execSync("echo a child").toString());
new (require("worker_threads").Worker)("console.log(42)", { eval: true });
"""], environment)


def redis(environment):
    if not shutil.which("redis-server"):
        raise Missing("there is no redis-server here")
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "socket")
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket,
                                   "--dir", folder, "--save", ""], env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for line in server.stdout:
                if "eady to accept connections" in line:
                    break
            client = ["redis-cli", "-s", socket]
            commands = [["debug", "populate", "20000"], ["set", "key", "value"], ["get", "key"],
                        ["dbsize"], ["save"], ["flushall"], ["dbsize"]]
            results = [run(client + command, environment) for command in commands]
            run(client + ["shutdown", "nosave"], environment)
            return results, server.wait(timeout=60)
        finally:
            server.kill()
            server.stdout.close()
            server.wait()


def gxx(environment):
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "a.cpp"), os.path.join(folder, "a")
        with open(source, "w") as file:
            file.write("""
#include <iostream>
#include <map>
#include <string>
int main()
{
	std::map<std::string, int> map;
	for (int i = 0; i < 1000; i++)
		map[std::to_string(i)] = i;
	std::cout << map.size() << std::endl;
}
""")
        return [run(["g++", "-O1", "-o", program, source], environment),
                run([program], environment)]


def java(environment):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "Main.java")
        with open(source, "w") as file:
            file.write("""
public class Main {
	public static void main(String[] arguments) throws Exception {
		java.util.ArrayList<String> list = new java.util.ArrayList<>();
		for (int i = 0; i < 100000; i++)
			list.add("s" + i);
		Thread[] threads = new Thread[20];
		for (int i = 0; i < 20; i++) {
			threads[i] = new Thread(() -> {});
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println(list.size());
	}
}
""")
        return run(["java", "-XX:-UsePerfData", source], environment)


PROGRAMS = {"python3": python3, "sqlite3": sqlite3, "bash": bash, "git": git, "node": node,
            "redis": redis, "g++": gxx, "java": java}


def main():
    program = PROGRAMS[sys.argv[1]]
    try:
        plain = program(PLAIN)
        preloaded = program(dict(PLAIN, LD_PRELOAD=OURS))
    except Missing as missing:
        print(missing)
        return 77
    print(plain)
    if plain != preloaded:
        print("but with the preload object:", preloaded)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
