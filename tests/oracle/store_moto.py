#!/usr/bin/env python3
"""s3:// against an independent server: rows that Furrow reads out of moto's S3 are those that were put there.

    python tests/oracle/store_moto.py build/dev/bin/source_rows

Keys are odd on purpose: spaces, plus signs, ampersands, letters beyond ASCII. Lists have more than a page. Then moto computes every signature once more, as botocore does, and refuses wrong ones. Exit code 77 (skipped) where moto is missing, 1 when
anything differs.
"""
import json
import logging
import os
import subprocess
import sys

try:
    import boto3
    from moto import settings as moto_settings
    from moto.server import ThreadedMotoServer
except ImportError as error:
    print(f"skipped: {error.name} is not installed (packaging/oracle-env.sh)")
    sys.exit(77)

PROGRAM = sys.argv[1]
PARTS = 1100  # a page of a list has 1,000
ODD = ["odd/a b.txt", "odd/a+b.txt", "odd/a&b=c.txt", "odd/ä 文.txt", "odd/100%.txt", "odd/(x)'!.txt"]
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAMOTO", "AWS_SECRET_ACCESS_KEY": "moto-secret-of-the-test"}
failures = 0


def read(spec, endpoint, **more):
    environment = {k: v for k, v in os.environ.items() if not k.upper().startswith(("AWS_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"))}
    environment |= {"AWS_ENDPOINT_URL": endpoint, "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"} | more
    said = subprocess.run([PROGRAM, spec], env=environment, capture_output=True, text=True, timeout=120)
    if "moto-secret" in said.stdout + said.stderr:
        sys.exit(f"{spec}: the key was told")
    return json.loads(said.stdout)


def check(name, got, expected):
    global failures
    if got != expected:
        failures += 1
        print(f"differs: {name}: {str(got)[:300]} instead of {str(expected)[:300]}")


def check_without_keys(s3, endpoint):
    """What is open to all is read without keys, what is not is refused with what to do."""
    for name, acl in ("open", "public-read"), ("closed", "private"):
        s3.put_object(Bucket="furrow-test", Key=f"{name}/a.txt", Body=f"{name} to all\n".encode(), ACL=acl)
    check("a key that is open to all, without keys", read("s3://furrow-test/open/a.txt", endpoint).get("rows"), ["open to all"])
    said = read("s3://furrow-test/closed/a.txt", endpoint).get("error", "")
    check("a key that is not, without keys", "403" in said and "AWS_ACCESS_KEY_ID" in said, True)


def check_signatures(endpoint):
    """From here on moto refuses what is signed wrong, and what is not signed."""
    iam = boto3.client("iam", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="AKIAMOTO", aws_secret_access_key="x")
    iam.create_user(UserName="ann")
    iam.put_user_policy(UserName="ann", PolicyName="reads", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}))
    made = iam.create_access_key(UserName="ann")["AccessKey"]
    ann = {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}
    moto_settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    for i, key in enumerate(ODD):
        check(f"{key}, its signature checked", read(f"s3://furrow-test/{key}", endpoint, **ann).get("rows"), [f"odd {i} one", f"odd {i} two"])
    check("a folder of two pages, its signatures checked", len(read("s3://furrow-test/parts/", endpoint, **ann).get("rows", [])), PARTS)
    said = read(f"s3://furrow-test/{ODD[0]}", endpoint, **ann | {"AWS_SECRET_ACCESS_KEY": "moto-secret-that-is-wrong"}).get("error", "")
    check("a wrong key", "403" in said and "AWS_ACCESS_KEY_ID" in said, True)


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it tells every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"])
    s3.create_bucket(Bucket="furrow-test")

    def put(key, text):
        s3.put_object(Bucket="furrow-test", Key=key, Body=text.encode())

    for i, key in enumerate(ODD):
        put(key, f"odd {i} one\nodd {i} two\n")
    for i in range(PARTS):
        put(f"parts/part-{i}.txt", f"row {i}\n")
    put("parts/notes.md", "no data\n")
    for key, rows in [(key, [f"odd {i} one", f"odd {i} two"]) for i, key in enumerate(ODD)]:
        check(key, read(f"s3://furrow-test/{key}", endpoint, **KEYS).get("rows"), rows)
    everything = read("s3://furrow-test/parts/", endpoint, **KEYS)
    check("a folder of two pages, in natural order", everything.get("rows"), [f"row {i}" for i in range(PARTS)])
    check("a pattern", read("s3://furrow-test/parts/part-1?.txt", endpoint, **KEYS).get("rows"), [f"row {i}" for i in range(10, 20)])
    check("no such key", "does not exist" in read("s3://furrow-test/none.txt", endpoint, **KEYS).get("error", ""), True)
    check("no such bucket", "error" in read("s3://furrow-none/a.txt", endpoint, **KEYS), True)
    check_without_keys(s3, endpoint)
    check_signatures(endpoint)
    server.stop()
    print("s3:// reads what moto holds" if failures == 0 else f"{failures} differ")
    return 1 if failures else 0


sys.exit(main())
