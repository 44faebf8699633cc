#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what botocore signs, for plugins/s3/tests/signatures.tsv: random keys, queries, tokens, regions, services.
One line each: time, region, service, access key, secret, token, key (hex), query (NAME:HEX ...), Authorization.

usage: make_s3_signatures.py >plugins/s3/tests/signatures.tsv"""
import datetime
import random
import sys
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

N = 200
CHARS = 'abcXYZ019-_.~/ +&=%?#:;,@!$()*\'"[]\u00e4\u4e2d\U0001f600\x01'


def sign(rand):
    when = datetime.datetime(2013, 1, 1) + datetime.timedelta(seconds=rand.randrange(10 ** 9))
    region = rand.choice(['us-east-1', 'eu-central-1', 'auto', 'cn-north-1'])
    service = rand.choice(['s3', 's3', 'sts'])
    access, secret = 'AK%d' % rand.randrange(10 ** 9), ''.join(rand.choice('aB3/+') for _ in range(40))
    token = rand.choice([None, 'token/%d+==' % rand.randrange(10 ** 9)])
    # A name of nothing but dots is another path to whatever joins URIs.
    key = 'k' + ''.join(rand.choice(CHARS) for _ in range(rand.randrange(20)))
    query = {name: ''.join(rand.choice(CHARS) for _ in range(rand.randrange(10)))
             for name in ('list-type', 'prefix', 'delimiter', 'continuation-token') if rand.random() < 0.5}
    url = 'http://bucket.s3.example/' + urllib.parse.quote(key, safe='/-_.~')
    request = botocore.awsrequest.AWSRequest('GET', url, params=query)
    request.context['timestamp'] = when.strftime('%Y%m%dT%H%M%SZ')
    signer = botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(access, secret, token), service, region)
    signer._modify_request_before_signing(request)
    text = signer.string_to_sign(request, signer.canonical_request(request))
    signer._inject_signature_to_request(request, signer.signature(text, request))
    stamp = int(when.replace(tzinfo=datetime.timezone.utc).timestamp())
    return [str(stamp), region, service, access, secret, token or '', key.encode().hex(),
            ' '.join('%s:%s' % (name, value.encode().hex()) for name, value in query.items()),
            request.headers['Authorization']]


def make():
    rand = random.Random(1)
    return ''.join('\t'.join(sign(rand)) + '\n' for _ in range(N))


if __name__ == '__main__':
    sys.stdout.write(make())
