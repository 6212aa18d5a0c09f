# docker build -t eventide . ; docker run --rm -v "$PWD:/data" eventide check messages.csv
FROM python:3.11-slim AS build
ARG EXTRAS=pandas,excel
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/eventide \
 && /opt/eventide/bin/pip install --no-cache-dir --constraint constraints.txt ".[$EXTRAS]"

FROM python:3.11-slim
COPY --from=build /opt/eventide /opt/eventide
RUN useradd --create-home eventide && mkdir /data && chown eventide /data
ENV PATH=/opt/eventide/bin:$PATH
USER eventide
WORKDIR /data
ENTRYPOINT ["eventide"]
CMD ["--help"]
