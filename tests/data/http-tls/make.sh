#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the certificates of this folder anew, with openssl 3. Nobody trusts them but the tests.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

key () {
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/$1.key"
}

# NAME SUBJECT-ALT-NAMES BEGIN END
certificate () {
  key "$1"
  openssl req -new -key "$folder/$1.key" -subj "/CN=dlpipe test $1" -out "$folder/$1.csr"
  printf 'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth\nsubjectAltName=%s\n' "$2" \
    >"$folder/$1.ext"
  mkdir -p "$folder/ca.db"
  : >"$folder/ca.db/index"
  cat >"$folder/ca.cnf" <<END
[ca]
default_ca = it
[it]
database = $folder/ca.db/index
new_certs_dir = $folder/ca.db
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
END
  openssl ca -config "$folder/ca.cnf" -batch -notext -cert ca.pem -keyfile "$folder/ca.key" -in "$folder/$1.csr" \
    -startdate "$3" -enddate "$4" -extfile "$folder/$1.ext" -out "$folder/$1.crt" 2>"$folder/log" ||
    { cat "$folder/log" >&2; exit 1; }
  cat "$folder/$1.crt" "$folder/$1.key" >"$1.pem"
}

key ca
openssl req -new -x509 -key "$folder/ca.key" -subj "/CN=dlpipe test authority" -days 36500 \
  -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" -out ca.pem
certificate server "DNS:localhost,IP:127.0.0.1" 20240101000000Z 21240101000000Z
certificate other-name "DNS:other.example" 20240101000000Z 21240101000000Z
certificate expired "DNS:localhost,IP:127.0.0.1" 20200101000000Z 20210101000000Z
