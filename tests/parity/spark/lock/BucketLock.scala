// Hudi's own storage-based lock provider over an S3 server of the tests: its releases for Spark carry no client for S3, and it refuses
// the local folder that the table lies in. So the lock's file goes to a bucket, and this client speaks for it. Only for tests.

package org.apache.hudi.aws.transaction.lock {

  import java.io.ByteArrayInputStream
  import java.net.URI
  import java.net.http.HttpRequest.BodyPublishers
  import java.net.http.HttpResponse.BodyHandlers
  import java.net.http.{HttpClient, HttpRequest, HttpResponse}
  import java.util.Properties

  import org.apache.hudi.client.transaction.lock.StorageLockClient
  import org.apache.hudi.client.transaction.lock.models.{LockGetResult, LockUpsertResult, StorageLockData, StorageLockFile}
  import org.apache.hudi.common.util.{Option => Maybe}
  import org.apache.hudi.common.util.collection.Pair

  /** The class that the provider looks for by this very name when a path begins with s3a. */
  class S3StorageLockClient(owner: String, lockFile: String, properties: Properties) extends StorageLockClient {
    private val http = HttpClient.newHttpClient()
    private val signer = new parity.lock.Signer(properties)

    def readCurrentLockFile(): Pair[LockGetResult, Maybe[StorageLockFile]] = {
      val answer = send("GET", lockFile, None, None)
      answer.statusCode match {
        case 200 =>
          val etag = answer.headers.firstValue("etag").get
          Pair.of(LockGetResult.SUCCESS, Maybe.of(StorageLockFile.createFromStream(new ByteArrayInputStream(answer.body), etag)))
        case 404 => Pair.of(LockGetResult.NOT_EXISTS, Maybe.empty[StorageLockFile]())
        case _ => Pair.of(LockGetResult.UNKNOWN_ERROR, Maybe.empty[StorageLockFile]())
      }
    }

    def tryUpsertLockFile(data: StorageLockData, previous: Maybe[StorageLockFile]): Pair[LockUpsertResult, Maybe[StorageLockFile]] = {
      val condition = if (previous.isPresent) ("if-match", previous.get.getVersionId) else ("if-none-match", "*")
      val answer = send("PUT", lockFile, Some(StorageLockFile.toByteArray(data)), Some(condition))
      answer.statusCode match {
        case 200 => Pair.of(LockUpsertResult.SUCCESS, Maybe.of(new StorageLockFile(data, answer.headers.firstValue("etag").get)))
        case 412 => Pair.of(LockUpsertResult.ACQUIRED_BY_OTHERS, Maybe.empty[StorageLockFile]())
        case _ => Pair.of(LockUpsertResult.UNKNOWN_ERROR, Maybe.empty[StorageLockFile]())
      }
    }

    def readObject(path: String, checkExistsFirst: Boolean): Maybe[String] = {
      val answer = send("GET", path, None, None)
      if (answer.statusCode == 200) Maybe.of(new String(answer.body, "UTF-8")) else Maybe.empty[String]()
    }

    def writeObject(path: String, content: String): Boolean = send("PUT", path, Some(content.getBytes("UTF-8")), None).statusCode == 200

    def close(): Unit = ()

    private def send(method: String, path: String, body: Option[Array[Byte]], condition: Option[(String, String)]): HttpResponse[Array[Byte]] = {
      val place = new URI(path)
      val url = signer.url(method, s"/${place.getHost}${place.getPath}", condition)
      val publisher = body.map(bytes => BodyPublishers.ofByteArray(bytes)).getOrElse(BodyPublishers.noBody())
      val request = HttpRequest.newBuilder(URI.create(url)).method(method, publisher)
      condition.foreach { case (name, value) => request.header(name, value) }
      http.send(request.build(), BodyHandlers.ofByteArray())
    }
  }
}

package parity.lock {

  import java.security.MessageDigest
  import java.time.ZoneOffset
  import java.time.ZonedDateTime
  import java.time.format.DateTimeFormatter
  import java.util.Properties

  import javax.crypto.Mac
  import javax.crypto.spec.SecretKeySpec

  import org.apache.hudi.client.transaction.lock.StorageBasedLockProvider
  import org.apache.hudi.common.config.LockConfiguration
  import org.apache.hudi.storage.StorageConfiguration

  /** Hudi's provider, told that the table lies in a bucket: `hoodie.test.lock.base` is its place there. */
  class BucketLockProvider(configuration: LockConfiguration, storage: StorageConfiguration[_])
      extends StorageBasedLockProvider(BucketLockProvider.moved(configuration), storage)

  object BucketLockProvider {
    def moved(configuration: LockConfiguration): LockConfiguration = {
      val properties = new Properties()
      configuration.getConfig.forEach((key, value) => properties.put(key, value))
      properties.put("hoodie.base.path", properties.getProperty("hoodie.test.lock.base"))
      new LockConfiguration(properties)
    }
  }

  /** Signs addresses by `hoodie.test.lock.endpoint`, `.access`, `.secret` and `.region`; AWS Signature Version 4 in the query. */
  class Signer(properties: Properties) {
    private def given(name: String) = properties.getProperty(s"hoodie.test.lock.$name")
    private val endpoint = given("endpoint")

    def url(method: String, path: String, condition: Option[(String, String)]): String = {
      val now = ZonedDateTime.now(ZoneOffset.UTC)
      val time = now.format(DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'"))
      val scope = s"${time.take(8)}/${given("region")}/s3/aws4_request"
      val headers = (condition.toSeq :+ ("host" -> endpoint.stripPrefix("http://"))).sorted
      val names = headers.map(_._1).mkString(";")
      val query = Seq(
        "X-Amz-Algorithm" -> "AWS4-HMAC-SHA256",
        "X-Amz-Credential" -> s"${given("access")}/$scope",
        "X-Amz-Date" -> time,
        "X-Amz-Expires" -> "60",
        "X-Amz-SignedHeaders" -> names
      ).map { case (name, value) => s"$name=${strict(value)}" }.mkString("&")
      val signed = headers.map { case (name, value) => s"$name:$value\n" }.mkString
      val canonical = Seq(method, path.split("/", -1).map(strict).mkString("/"), query, signed, names, "UNSIGNED-PAYLOAD").mkString("\n")
      val hash = hex(MessageDigest.getInstance("SHA-256").digest(canonical.getBytes("UTF-8")))
      val text = Seq("AWS4-HMAC-SHA256", time, scope, hash).mkString("\n")
      val key = Seq(time.take(8), given("region"), "s3", "aws4_request").foldLeft(s"AWS4${given("secret")}".getBytes("UTF-8"))(hmac)
      s"$endpoint${path.split("/", -1).map(strict).mkString("/")}?$query&X-Amz-Signature=${hex(hmac(key, text))}"
    }

    private def hmac(key: Array[Byte], text: String): Array[Byte] = {
      val mac = Mac.getInstance("HmacSHA256")
      mac.init(new SecretKeySpec(key, "HmacSHA256"))
      mac.doFinal(text.getBytes("UTF-8"))
    }

    private def hex(bytes: Array[Byte]) = bytes.map(byte => f"$byte%02x").mkString

    private def strict(text: String) =
      java.net.URLEncoder.encode(text, "UTF-8").replace("+", "%20").replace("*", "%2A").replace("%7E", "~")
  }
}
