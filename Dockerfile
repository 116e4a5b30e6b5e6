# The command and the Python package in a Debian 12, from this clone:
#     docker build -t rigor . && docker run --rm -v "$PWD:/data" -w /data rigor run dominoes
FROM debian:12 AS build
COPY . /rigor
WORKDIR /rigor
RUN tools/setup run && apt-get install -y --no-install-recommends python3 dpkg-dev file \
    && { tools/page || true; } && tools/package

FROM debian:12-slim
COPY --from=build /rigor/build/package/*.deb /packages/
RUN apt-get update \
    && apt-get install -y --no-install-recommends coinor-libclp1 /packages/librigor0.1_*.deb \
        /packages/rigor_*.deb /packages/python3-rigor_*.deb \
    && rm -rf /packages /var/lib/apt/lists/*
ENTRYPOINT ["rigor"]
